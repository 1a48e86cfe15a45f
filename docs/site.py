"""Builds the documentation's site into `site/`: the pages of this folder with README in front, every link of them checked.

What they link to elsewhere in the repository becomes part of the site, so that every link leads somewhere.
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
            {"Team": "emulator/team.md"},
            {"Dashboard": "emulator/dashboard.md"},
            {"Reference": "emulator/reference.md"},
            {"Fidelity": "emulator/fidelity.md"},
            {"Requirements": "emulator/requirements.md"},
        ]
    },
    {"Changes": "changelog.md"},
]
FRONT = {"README.md": "index.md", "CHANGELOG.md": "changelog.md"}
LEFT_OUT = ("playground", "site.py")
LINK = re.compile(r"(\]\()(?!https?:|#|mailto:)([^)\s]+)(\))")


def place(file: Path) -> str:
    """Where a file or folder of the repository stands among the site's pages."""
    if file.is_relative_to(HERE):
        return file.relative_to(HERE).as_posix()
    inside = file.relative_to(ROOT).as_posix()
    if inside in FRONT:
        return FRONT[inside]
    return f"{inside}.md" if file.is_dir() else inside if file.suffix else f"{inside}.txt"


def linked(text: str, at: Path, brought: list[Path]) -> str:
    """A page's text, its links led to where their targets stand in the site; the targets are added to `brought`."""

    def to(found: re.Match[str]) -> str:
        target, mark, anchor = found[2].partition("#")
        file = (at.parent / target).resolve()
        if not target or not file.exists():  # the build tells what leads nowhere
            return found[0]
        brought.append(file)
        return f"{found[1]}{os.path.relpath(place(file), Path(place(at)).parent)}{mark}{anchor}{found[3]}"

    return LINK.sub(to, text)


def bring(files: list[Path], pages: Path) -> None:
    """Write files, and whatever they link to, to where they stand among the pages; a folder is a page of its files."""
    waiting, done = list(files), set()
    while waiting:
        file = waiting.pop()
        if file in done:
            continue
        done.add(file)
        target = pages / place(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.is_dir():
            text = f"# {file.name}\n"
            for each in sorted(file.rglob("*")):
                if each.is_file() and "node_modules" not in each.parts:
                    text += f"\n## {each.relative_to(file)}\n\n```{each.suffix[1:]}\n{each.read_text(encoding='utf-8')}```\n"
            target.write_text(text, encoding="utf-8")
        elif file.suffix == ".md":
            target.write_text(linked(file.read_text(encoding="utf-8"), file, waiting), encoding="utf-8")
        else:
            shutil.copy(file, target)


def main() -> None:
    """Copy, lead the links, build."""
    shutil.rmtree(ROOM, ignore_errors=True)
    pages = ROOM / "docs"
    own = [file for file in HERE.rglob("*") if file.is_file() and file.relative_to(HERE).parts[0] not in LEFT_OUT]
    bring([*own, *(ROOT / name for name in FRONT)], pages)
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
