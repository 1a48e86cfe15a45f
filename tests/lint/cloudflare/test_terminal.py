"""What somebody at a terminal sees."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys

from .hostile import assert_silent
from .support import CONFIG, WITH_ACCESS


def on_a_terminal(arguments, cwd, **environment):
    """What a run writes to a terminal of 60 columns."""
    main, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cfq_lint", *arguments], cwd=cwd, stdin=other, stdout=other, stderr=other,
        env={"PATH": "", "TERM": "xterm", "COLUMNS": "60", **WITH_ACCESS, **environment},
    )  # fmt: skip
    os.close(other)
    seen = b""
    while select.select([main], [], [], 60)[0]:
        try:
            part = os.read(main, 65_536)
        except OSError:
            break
        if not part:
            break
        seen += part
    process.wait(60)
    os.close(main)
    return seen.decode()


def test_a_terminal_sees_a_progress_bar_that_is_gone_in_the_end(tmp_path, shop):
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    there = {"CLOUDFLARE_API_BASE_URL": shop.url}
    coloured = on_a_terminal(["audit"], tmp_path, **there)
    assert "reading" in coloured
    bar, _, rest = coloured.rpartition("\x1b[2K")
    assert bar.count("\x1b[?25h") == bar.count("\x1b[?25l") == 1
    assert "reading" not in rest
    assert "\x1b[1" in rest
    plain = on_a_terminal(["audit"], tmp_path, NO_COLOR="1", **there)
    assert "\x1b[1;" not in plain
    assert "\x1b[3" not in plain
    dumb = on_a_terminal(["audit"], tmp_path, TERM="dumb", **there)
    assert "\x1b" not in dumb
    assert_silent(coloured, plain, dumb)
