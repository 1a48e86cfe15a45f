"""Builds the documentation's site into `site/`: the pages of this folder with README in front, every link of them checked.

What stands outside of this folder is linked to where the repository is published.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ROOM = ROOT / ".editor" / "docs"
REPOSITORY = "https://github.com/OWNER/cfq-lint"
NAVIGATION = [
    {"Start": "index.md"},
    {"Why": "why.md"},
    {
        "Linter": [
            {"In the editor": "editor.md"},
            {"In CI": "ci.md"},
            {"Settings": "configuration.md"},
            {"Accepting findings": "suppressing.md"},
            {"Other configurations": "other-configurations.md"},
            {"Workers' sources": "sources.md"},
            {"Audit": "audit.md"},
            {"Checklist": "checklist.md"},
            {"Estimate": "estimate.md"},
        ]
    },
    {"Rules": "rules"},
    {
        "Emulator": [
            {"Quickstart": "emulator/quickstart.md"},
            {"pytest": "emulator/pytest.md"},
            {"Consumers": "emulator/consumers.md"},
            {"JavaScript Workers": "emulator/javascript-workers.md"},
            {"Python Workers": "emulator/python-workers.md"},
            {"Time": "emulator/time.md"},
            {"Faults": "emulator/faults.md"},
            {"Explore": "emulator/explore.md"},
            {"Simulate": "emulator/simulate.md"},
            {"Server": "emulator/server.md"},
            {"Dashboard": "emulator/dashboard.md"},
            {"Reference": "emulator/reference.md"},
            {"Fidelity": "emulator/fidelity.md"},
            {"Requirements": "emulator/requirements.md"},
        ]
    },
    {"Changes": "changelog.md"},
]
LEFT_OUT = ("playground", "site.py")
LINK = re.compile(r"(\]\()(?!https?:|#|mailto:)([^)\s]+)(\))")


def linked(text: str, at: Path) -> str:
    """A page's text, its links to files outside of the pages led to the repository. `at` is where it stood."""

    def to(found: re.Match[str]) -> str:
        target, mark, anchor = found[2].partition("#")
        file = (at.parent / target).resolve()
        if file.is_relative_to(HERE):
            inside = file.relative_to(HERE).as_posix()
            home = at.parent if at.is_relative_to(HERE) else HERE
            target = "../" * len(home.relative_to(HERE).parts) + inside
        elif file in (ROOT / "README.md", ROOT / "CHANGELOG.md"):
            home = at.parent if at.is_relative_to(HERE) else HERE
            target = "../" * len(home.relative_to(HERE).parts) + ("index.md" if file.name == "README.md" else "changelog.md")
        elif file.exists():
            target = f"{REPOSITORY}/{'tree' if file.is_dir() else 'blob'}/main/{file.relative_to(ROOT).as_posix()}"
        return f"{found[1]}{target}{mark}{anchor}{found[3]}"

    return LINK.sub(to, text)


def main() -> None:
    """Copy, lead the links, build."""
    shutil.rmtree(ROOM, ignore_errors=True)
    pages = ROOM / "docs"
    pages.mkdir(parents=True)
    for file in sorted(HERE.rglob("*")):
        inside = file.relative_to(HERE)
        if file.is_dir() or inside.parts[0] in LEFT_OUT:
            continue
        target = pages / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            target.write_text(linked(file.read_text(encoding="utf-8"), file), encoding="utf-8")
        else:
            shutil.copy(file, target)
    for name, target in (("README.md", "index.md"), ("CHANGELOG.md", "changelog.md")):
        (pages / target).write_text(linked((ROOT / name).read_text(encoding="utf-8"), ROOT / name), encoding="utf-8")
    rules = sorted(file.name for file in (HERE / "rules").glob("*.md"))
    titles = [{"All rules": "rules/index.md"}, *(f"rules/{name}" for name in rules if name != "index.md")]
    navigation = [{"Rules": titles} if each == {"Rules": "rules"} else each for each in NAVIGATION]
    navigation.append({"Playground": "playground/"})
    config = {
        "site_name": "cfq-lint",
        "docs_dir": str(pages),
        "site_dir": str(ROOT / "site"),
        "nav": navigation,
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.tabs", "navigation.top", "content.code.copy"],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
            ],
        },
        "markdown_extensions": ["tables", "fenced_code", "toc", "pymdownx.highlight", "pymdownx.superfences"],
        "plugins": ["search"],
        "validation": {
            "links": {"not_found": "warn", "anchors": "warn", "unrecognized_links": "warn", "absolute_links": "warn"}
        },
    }
    (ROOM / "mkdocs.yml").write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", str(ROOM / "mkdocs.yml")]
    # The theme's makers announce its successor at each build.
    if subprocess.run(build, check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode:
        sys.exit("the site has faults, and was not built")
    print("site/: the documentation")


if __name__ == "__main__":
    main()
