"""The text of a pytest test that runs one schedule."""

from __future__ import annotations

import re
from textwrap import indent


def test_text(names: list[tuple[str, str]], replay: str, story: str) -> str:
    """A module with one test. `names` are (module, name) of the setup and of each invariant."""
    lines = ["from emulator import explore", ""]
    for module, name in names:
        if "<locals>" in name or module in {"", "__main__"}:
            lines.append(f"# {name} of {module or 'somewhere'} is not a module's own: put it, or what makes it, here")
        else:
            lines.append(f"from {module} import {name.partition('.')[0]}")
    setup, *invariants = (name.rpartition(".<locals>.")[2] for _, name in names)
    given = invariants[0] if len(invariants) == 1 else f"[{', '.join(invariants)}]"
    quoted = story.replace("\\", "\\\\").replace('"', "'")
    return "\n".join([
        *dict.fromkeys(lines), "", "",
        f"def test_{setup.strip('_')}_under_{re.sub('[^0-9a-z]+', '_', replay) or 'the_ordinary_course'}():",
        '    """', indent(quoted, "    "), '    """',
        f"    found = explore({setup}, {given}, replay={replay!r})",
        "    assert not found.found, found",
        "",
    ])  # fmt: skip
