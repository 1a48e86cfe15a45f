"""What the repository makes from its code is fresh: schemas, rule pages, README's table, the hooks of pre-commit."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cfq_lint.cli import generate
from cfq_lint.rules.registry import every_rule
from cfq_lint.source.discovery import HOOK_PATTERN, SOURCE_PATTERN

ROOT = Path(__file__).resolve().parent.parent


def test_nothing_that_is_generated_is_stale():
    assert generate.stale(ROOT) == []


def test_every_rule_has_its_page_and_no_page_is_left_over():
    assert {page.stem for page in (ROOT / "docs" / "rules").glob("*.md")} == {"index", *(rule.name for rule in every_rule())}


def test_the_table_in_the_readme_names_every_rule():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme[readme.index(generate.TABLE_START) : readme.index(generate.TABLE_END)]
    for rule in every_rule():
        assert f"| {rule.code} |" in table
        assert f"docs/rules/{rule.name}.md" in table


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)", prose):
            if not target.startswith(("http:", "https:", "mailto:")):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} → {target}"


def test_the_hooks_take_the_files_that_the_linter_searches_for():
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert re.findall(r"^- id: (.*)$", hooks, re.MULTILINE) == ["cfq-lint", "cfq-lint-sources", "cfq-lint-fix"]
    assert re.findall(r"^  files: '(.*)'$", hooks, re.MULTILINE) == [HOOK_PATTERN, SOURCE_PATTERN, HOOK_PATTERN]
    assert hooks.count("  pass_filenames: false\n") == 3
    for name in ("wrangler.toml", "a/wrangler.local.jsonc", "cfq-lint.toml"):
        assert re.search(HOOK_PATTERN, name)
    for name in ("src/index.ts", "worker.py", "a.mjs", "a.tsx", "b.cts"):
        assert re.search(SOURCE_PATTERN, name)
    assert not re.search(HOOK_PATTERN, "src/wrangler.ts")
    assert not re.search(SOURCE_PATTERN, "notes.md")


def test_a_stale_file_is_found_and_written_anew(tmp_path):
    for name in ("schemas", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("README.md", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / generate.INDEX).parent.mkdir(parents=True)
    shutil.copy(ROOT / generate.INDEX, tmp_path / generate.INDEX)
    assert generate.stale(tmp_path) == []
    (tmp_path / generate.INDEX).write_text("ROWS = ()", encoding="utf-8")
    (tmp_path / "schemas" / "limits.json").write_text("{}", encoding="utf-8")
    (tmp_path / "docs" / "rules" / "no-such-rule.md").write_text("# old", encoding="utf-8")
    (tmp_path / "docs" / "rules" / "dlq-self.md").unlink()
    readme = tmp_path / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace("CFQ201", "CFQ999"), encoding="utf-8")
    names = {path.name for path in generate.stale(tmp_path)}
    assert names == {"index.py", "limits.json", "no-such-rule.md", "dlq-self.md", "README.md"}
    command = [sys.executable, "-m", "cfq_lint.cli.generate"]
    check = subprocess.run([*command, "--check"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert check.returncode == 1
    assert check.stdout.count("stale: ") == 5
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert generate.stale(tmp_path) == []
    assert json.loads((tmp_path / "schemas" / "limits.json").read_text(encoding="utf-8"))["limits"]
    assert not (tmp_path / "docs" / "rules" / "no-such-rule.md").exists()
