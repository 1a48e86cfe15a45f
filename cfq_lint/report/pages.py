"""Text made from rules and limits: listings and explanations for the terminal, rule pages, README's table, hooks."""

from __future__ import annotations

import json
import re
import textwrap

from cfq_lint.facts.limits import LIMITS, Limit, limit
from cfq_lint.rules.registry import every_rule
from cfq_lint.rules.rule import FAMILIES, Rule
from cfq_lint.source.discovery import HOOK_PATTERN, SOURCE_PATTERN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NEEDS = {
    "file": "one file",
    "project": "all files of the run",
    "facts": "declared facts about the account (plan, retention, jurisdiction, known queues)",
    "code": "the Worker's entry file",
    "live": "the account itself (`cfq-lint audit`)",
    "diff": "two states of the files (`cfq-lint diff`)",
}


def rules_about(word: str) -> tuple[Rule, ...]:
    """The rules that have a word in their name or summary."""
    words = re.compile(rf"\b{re.escape(word.lower().replace('-', ' '))}\b")
    return tuple(rule for rule in every_rule() if words.search(f"{rule.name} {rule.summary}".lower().replace("-", " ")))


def rules_as_text(rules: tuple[Rule, ...] | None = None) -> str:
    """A line a rule, by family; of all rules unless some are given."""
    rules = every_rule() if rules is None else rules
    lines = []
    for number, family in FAMILIES.items():
        if any(rule.code[3] == number for rule in rules):
            lines.append(f"{number} {family}")
        for rule in rules:
            if rule.code[3] == number:
                off = "" if rule.default else " (off)"
                lines.append(f"  {rule.code}  {rule.severity:<7}  {rule.fix or '-':<6}  {rule.name:<34}  {rule.summary}{off}")
    return "\n".join(lines) + "\n"


def rule_as_object(rule: Rule) -> dict[str, Any]:
    """A rule's metadata."""
    return {
        "code": rule.code,
        "name": rule.name,
        "family": rule.family,
        "severity": rule.severity.value,
        "fix": rule.fix,
        "needs": rule.needs,
        "default": rule.default,
        "summary": rule.summary,
        "url": rule.source,
        "checked": rule.checked,
        "limits": list(rule.limits),
    }


def rules_as_json() -> str:
    """All rules' metadata as one JSON object."""
    return json.dumps({"version": 1, "rules": [rule_as_object(rule) for rule in every_rule()]}, indent=2) + "\n"


def explanation(rule: Rule) -> str:
    """A rule's page for the terminal: what, why, right and wrong, limits with their pages, and when they were checked."""
    lines = [f"{rule.code} {rule.name}", *_facts_of(rule), "", rule.page.strip()]
    if rule.limits:
        lines += ["", "## Limits", *(_limit_line(limit(id)) for id in rule.limits)]
    if rule.source:
        lines += ["", f"Source: {rule.source} (checked {rule.checked})"]
    return "\n".join(lines) + "\n"


def _facts_of(rule: Rule) -> list[str]:
    fix = f"{rule.fix} ({'--fix' if rule.fix == 'safe' else '--unsafe-fixes'})" if rule.fix else "none"
    default = "on by default" if rule.default else "off by default; --select runs it"
    return [f"severity {rule.severity} · fix {fix} · needs {_NEEDS[rule.needs]} · {default}"]


def _limit_line(entry: Limit) -> str:
    plan = "" if entry.plan == "both" else f", {entry.plan.capitalize()} plan"
    note = f"; {entry.note}" if entry.note else ""
    value = f"`{entry.value}`" if entry.unit == "pattern" else entry.value
    return f"- {entry.applies_to}: {value} {entry.unit}{plan}{note} ({entry.id}, {entry.page}, checked {entry.checked})"


def limits_as_text() -> str:
    """A table of all limits."""
    rows = [("limit", "value", "unit", "plan", "checked", "applies to")]
    rows += [(each.id, _value(each), each.unit, each.plan, each.checked, _applies(each)) for each in LIMITS]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        cells = [
            f"{cell:>{width}}" if index == 1 else f"{cell:<{width}}"
            for index, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    pages = sorted({each.page for each in LIMITS})
    return "\n".join([*lines, "", "Pages:", *(f"  {page}" for page in pages)]) + "\n"


def _value(entry: Limit) -> str:
    return ", ".join(entry.value) if isinstance(entry.value, tuple) else str(entry.value)


def _applies(entry: Limit) -> str:
    return f"{entry.applies_to}: {entry.note}" if entry.note else entry.applies_to


def limits_as_json() -> str:
    """All limits as one JSON object; also `schemas/limits.json`."""
    keys = ("id", "value", "unit", "applies_to", "plan", "page", "checked", "note")
    rows = [{key: getattr(each, key) for key in keys} for each in LIMITS]
    return json.dumps({"version": 1, "limits": rows}, indent=2) + "\n"


def rule_page(rule: Rule) -> str:
    """A rule's page in Markdown, `docs/rules/<name>.md`."""
    lines = [f"# {rule.name} ({rule.code})", "", *_facts_of(rule), "", rule.page.strip()]
    if rule.limits:
        lines += ["", "## Limits", "", *(_limit_line(limit(id)) for id in rule.limits)]
    if rule.source:
        lines += ["", f"Source: <{rule.source}>, checked {rule.checked}."]
    lines += [
        "",
        "Accept one finding on purpose with a comment beside it or above it:",
        "",
        "```jsonc",
        f"// cfq-lint: ignore[{rule.name}] why",
        "```",
    ]
    return "\n".join(lines) + "\n"


def rules_table(link: str = "docs/rules/") -> str:
    """All rules as a Markdown table; names link to their pages below `link`."""
    lines = ["| code | rule | severity | fix | it speaks when |", "|---|---|---|---|---|"]
    for rule in every_rule():
        off = "" if rule.default else ", off"
        lines.append(
            f"| {rule.code} | [{rule.name}]({link}{rule.name}.md) | {rule.severity}{off} | {rule.fix or ''} | {rule.summary} |"
        )
    return "\n".join(lines) + "\n"


def rules_index() -> str:
    """The page `docs/rules/index.md`."""
    return f"# Rules\n\n{textwrap.dedent(_INDEX).strip()}\n\n{rules_table('')}"


_INDEX = """
    *error*: Cloudflare or wrangler refuses it, or messages are lost. *warning*: legal, but probably wrong, costly, or different
    locally and in production. *info*: worth knowing; never fails a run by default. A *safe* fix keeps the meaning of the file
    (`--fix`), an *unsafe* one may change it (`--unsafe-fixes`). Rules that are *off* run with `--select`.
"""


def hooks() -> str:
    """The manifest for pre-commit, `.pre-commit-hooks.yaml`.

    pre-commit says by a pattern when a hook runs, not on what: a finding may rest on a file that the commit does not touch, so
    each hook looks at the whole repository.
    """
    lines = ["# Generated from the code by `make generate`; edit cfq_lint/report/pages.py."]
    for id, name, description, entry, files in (
        ("cfq-lint", "cfq-lint", "check the Cloudflare Queues of all wrangler files", "cfq-lint check", HOOK_PATTERN),
        (
            "cfq-lint-sources",
            "cfq-lint, Workers' sources",
            "the same, when a source of a Worker changes",
            "cfq-lint check",
            SOURCE_PATTERN,
        ),
        (
            "cfq-lint-fix",
            "cfq-lint --fix",
            "check the Cloudflare Queues of all wrangler files, and repair what is safe",
            "cfq-lint check --fix",
            HOOK_PATTERN,
        ),
    ):
        lines += [
            f"- id: {id}",
            f"  name: {json.dumps(name)}",
            f"  description: {json.dumps(description)}",
            f"  entry: {entry}",
            "  language: python",
            f"  files: '{files}'",
            "  pass_filenames: false",
            "  require_serial: true",
        ]
    return "\n".join(lines) + "\n"


def configuration() -> str:
    """The page `docs/configuration.md`, from the settings' own model."""
    from cfq_lint.run.settings import DeclaredQueue, DeclaredWatch, Settings  # loads pydantic

    lines = [
        "# Settings",
        "",
        "In `cfq-lint.toml`, or in `pyproject.toml` below `[tool.cfq-lint]`. The nearest of these files counts, looked for",
        "upwards from the folder that all linted paths have in common; `cfq-lint.toml` beats a `pyproject.toml` beside it.",
        "Options of the command line win. A setting that does not exist, or has a wrong value, stops the run with exit code 2.",
        "",
        "| setting | type | default | meaning |",
        "|---|---|---|---|",
    ]
    schema = Settings.model_json_schema(by_alias=True)["properties"]
    lines += [_setting_row(name, schema[name]) for name in schema if name != "queues"]
    lines += [
        "",
        "## Declared queues",
        "",
        "`[tool.cfq-lint.queues.NAME]` declares what the file cannot say. Findings that rest on it say so. The traffic and",
        "who watches it are for `cfq-lint audit`: [the acceptance list](checklist.md) and [the estimate](estimate.md).",
        "",
    ]
    lines += ["| setting | type | default | meaning |", "|---|---|---|---|"]
    declared = DeclaredQueue.model_json_schema()["properties"]
    lines += [_setting_row(name, declared[name]) for name in declared if name != "metrics"]
    watched = DeclaredWatch.model_json_schema()["properties"]
    lines += [_setting_row(f"metrics.{name}", watched[name]) for name in watched]
    return "\n".join([*lines, "", "## Example", "", "```toml", _SETTINGS_EXAMPLE.strip(), "```"]) + "\n"


def _setting_row(name: str, schema: dict[str, Any]) -> str:
    kinds = [_kind(each) for each in schema.get("anyOf", [schema]) if each.get("type") != "null"]
    default = schema.get("default")
    shown = "not set" if default is None else f"`{json.dumps(default)}`"
    return f"| `{name}` | {' or '.join(kinds)} | {shown} | {schema['description']} |"


def _kind(schema: dict[str, Any]) -> str:
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    if schema.get("type") == "array":
        return "list of strings"
    if schema.get("type") == "object":
        return "table of lists of strings"
    return str(schema["type"])


_SETTINGS_EXAMPLE = """
[tool.cfq-lint]
plan = "paid"
fail-on = "error"
ignore = ["feedback-loop"]
exclude = ["examples/"]

[tool.cfq-lint.per-path-ignores]
"legacy/**" = ["consumer-without-dlq"]

[tool.cfq-lint.queues.orders]
jurisdiction = "eu"
message_retention_period = 1209600
message_size_bytes = 2_000
rate_per_second = 40
failure_share = 0.01
idempotency_key = "order_id"
metrics.oldest_message_age = "the dashboard of the shop"
"""
