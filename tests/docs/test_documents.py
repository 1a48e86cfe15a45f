"""README and docs show what really happens: transcripts, Python, settings, ignores, workflow files, the action, and every link."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cfq_lint import lint_paths, lint_text
from cfq_lint.cli.options import AUDIT, CHECK
from cfq_lint.report import FORMATS
from cfq_lint.run.settings import load

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAM = str(Path(sys.executable).with_name("cfq-lint"))


def blocks(page, language):
    """The fenced blocks of a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def environment(**more):
    kept = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR", "CI"}}
    return {**kept, "COLUMNS": "120", **more}


def test_the_transcript_in_the_readme_is_what_the_command_prints():
    (shown,) = blocks(ROOT / "README.md", "console")
    command, _, output = shown.partition("\n")
    assert command == "$ cfq-lint check wrangler.jsonc"
    done = subprocess.run(
        [PROGRAM, "check", "wrangler.jsonc"], cwd=ROOT / "fixtures" / "readme", env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == output


def test_the_python_in_the_readme_runs_and_finds_something(capsys):
    linting, emulating = blocks(ROOT / "README.md", "python")
    exec(linting, {})
    assert "CFQ302" in capsys.readouterr().out
    exec(emulating, {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_that_is_shown_exists(page):
    tables = {"check": CHECK, "audit": AUDIT}
    for command, line in re.findall(r"^(?=.*cfq-lint (check|audit)\b)(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE):
        known = {f"--{option.name}" for option in tables[command]} | {"--dry-run"}
        for option in re.findall(r"(?<!\w)--[a-z-]+", line):
            assert option in known, line
        for name in re.findall(r"--format (\w+)", line):
            assert name in FORMATS or (name == "html" and command == "audit")


def test_the_ignores_that_are_shown_suppress_what_they_name():
    page = ROOT / "docs" / "suppressing.md"
    (jsonc,) = blocks(page, "jsonc")
    report = lint_text(jsonc)
    assert [finding.name for finding in report.suppressed] == ["consumer-without-dlq"] * 2
    assert not report.findings
    above, whole = blocks(page, "toml")[:2]
    assert [finding.name for finding in lint_text(above, "wrangler.toml").suppressed] == ["consumer-without-dlq"]
    consumer = '\n[[queues.consumers]]\nqueue = "orders"\ndead_letter_queue = "orders-dlq"\n'
    assert [finding.name for finding in lint_text(whole + consumer, "wrangler.toml").suppressed] == ["dlq-no-consumer"]


@pytest.mark.parametrize("page", ["suppressing.md", "configuration.md", "checklist.md"])
def test_the_settings_that_are_shown_are_accepted(page, tmp_path):
    shown = [block for block in blocks(ROOT / "docs" / page, "toml") if "tool.cfq-lint" in block]
    assert shown
    for number, block in enumerate(shown):
        file = tmp_path / f"{number}" / "pyproject.toml"
        file.parent.mkdir()
        file.write_text(block)
        assert load(str(file), ("tool", "cfq-lint")) is not None
        shutil.copy(ROOT / "fixtures" / "wrangler" / "wrangler.046.json", file.parent / "wrangler.json")
        assert len(lint_paths([str(file.parent)]).files) == 1


def test_the_yaml_that_is_shown_is_yaml_and_names_what_exists():
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    shown = [block for page in PAGES for block in blocks(page, "yaml")]
    assert len(shown) >= 5
    for block in shown:
        whole = yaml.safe_load(block)
        for repository in whole.get("repos", []):
            assert {hook["id"] for hook in repository["hooks"]} <= hooks
        for job in whole.get("jobs", {}).values():
            for step in job["steps"]:
                if step["uses"].startswith("OWNER/cfq-lint@"):
                    assert set(step.get("with", {})) <= set(inputs)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, 1),
        ({"INPUT_FAIL": "false", "INPUT_FORMAT": "sarif", "INPUT_OUTPUT": "out.sarif"}, 0),
        ({"INPUT_ARGS": "--fail-on error --ignore CFQ203"}, 0),
        ({"INPUT_ARGS": "--no-such-option", "INPUT_FAIL": "false"}, 2),
        ({"INPUT_PATHS": "wrangler.jsonc; touch smuggled"}, 2),
        ({"INPUT_COMMAND": "audit", "CLOUDFLARE_API_TOKEN": "", "CLOUDFLARE_ACCOUNT_ID": ""}, 1),
        ({"INPUT_COMMAND": "audit", "CLOUDFLARE_API_TOKEN": "", "CLOUDFLARE_ACCOUNT_ID": "a"}, 2),
        ({"INPUT_COMMAND": "rules; touch smuggled"}, 2),
    ],
)
def test_the_action_lints_and_fails_as_its_inputs_say(given, code, tmp_path):
    shutil.copy(ROOT / "fixtures" / "readme" / "wrangler.jsonc", tmp_path)
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {f"INPUT_{name.upper()}": value["default"] for name, value in action["inputs"].items()}
    script = action["runs"]["steps"][-1]["run"]
    path = f"{Path(PROGRAM).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path, env=environment(PATH=path, **{**inputs, **given}), capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert not (tmp_path / "smuggled").exists()
    if "INPUT_OUTPUT" in given:
        assert (tmp_path / "out.sarif").read_text().startswith("{")


def test_the_table_of_the_estimate_is_what_is_counted():
    from cfq_lint.estimate.model import MONTH_SECONDS, Retries
    from cfq_lint.estimate.reckoning import reads
    from cfq_lint.facts.pricing import usd

    page = (ROOT / "docs" / "estimate.md").read_text(encoding="utf-8")
    poisoned = 1_000_000 / 86_400 * MONTH_SECONDS * 0.01
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) minutes \| ([\d,]+) \| \$([\d.]+) \|$", page, re.MULTILINE)
    assert [int(row[0]) for row in rows] == [3, 100]
    for retries, deliveries, read, minutes, operations, cost in rows:
        made = Retries(int(retries), int(retries) + 1, round(reads(int(retries), 1.0)), int(retries) * 60, outlasts_retention=False)
        assert (int(deliveries), int(read), int(minutes) * 60) == (made.deliveries, made.poisoned_reads, made.horizon_seconds)
        # a write, the reads, and in the dead-letter queue a write, a read and a delete
        assert int(operations.replace(",", "")) == round(poisoned * (1 + made.poisoned_reads + 3))
        assert float(cost) == round(usd(int(operations.replace(",", ""))), 2)


def test_the_acceptance_list_s_page_explains_each_item():
    from cfq_lint.checklist import ITEMS

    page = (ROOT / "docs" / "checklist.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \d+\. (.+)$", page, re.MULTILINE) == [item[1] for item in ITEMS]
