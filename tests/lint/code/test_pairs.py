"""Mistakes in Workers that are put together in many ways, each beside the same without it; and right code that looks suspicious."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cfq_lint import lint_paths

PAIRS = Path(__file__).resolve().parents[3] / "fixtures" / "following" / "pairs.txt"
CONFIG = {
    "name": "shop",
    "compatibility_date": "2026-01-15",
    "queues": {"consumers": [{"queue": "orders", "max_batch_size": 10, "max_retries": 5, "dead_letter_queue": "orders-dlq"}]},
}


def pairs():
    """Each pair: its name, the rule that its bad side earns ("" for right code), and the files of both sides."""
    for part in re.split(r"^=== ", PAIRS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, _, rest = part.partition("\n")
        name, _, rule = head.partition(":")
        sides = {"bad": {}, "good": {}}
        for side, path, text in re.findall(r"^--- (bad|good) (\S+)\n(.*?)(?=^--- |\Z)", rest, re.MULTILINE | re.DOTALL):
            sides[side][path] = text
        yield name, rule.strip(), sides["bad"], {**sides["bad"], **sides["good"]}


ALL = list(pairs())


def found(folder, files):
    """The rules about a consumer's code that speak, with the place."""
    main = next(path for path in ("src/index.ts", "src/index.js", "src/entry.py") if path in files)
    flags = {"compatibility_flags": ["python_workers"]} if main.endswith(".py") else {}
    for path, text in {**files, "wrangler.json": json.dumps({**CONFIG, **flags, "main": main})}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    report = lint_paths([folder])
    assert not report.crashed
    return [each.name for each in report.findings if each.code.startswith(("CFQ82", "CFQ83"))]


@pytest.mark.parametrize(("rule", "bad", "good"), [each[1:] for each in ALL], ids=[each[0] for each in ALL])
def test_the_mistake_is_named_and_the_right_code_is_left_alone(rule, bad, good, tmp_path):
    if rule:
        assert rule in found(tmp_path / "bad", bad)
    assert found(tmp_path / "good", good) == []


def test_each_environment_s_variables_name_its_own_queues(tmp_path):
    entry = (
        "export default { async queue(batch, env) { if (batch.queue === env.ORDERS) {"
        " for (const m of batch.messages) { await env.KV.put(m.body.id, '1'); m.ack(); } } } };\n"
    )
    queues = {"consumers": [{"queue": "orders", "max_retries": 5, "dead_letter_queue": "dead"}, {"queue": "dead"}]}
    production = {"consumers": [{"queue": "orders-prod", "max_retries": 5, "dead_letter_queue": "dead-prod"}, {"queue": "dead-prod"}]}
    config = {
        **CONFIG, "main": "src/index.ts", "vars": {"ORDERS": "orders"}, "queues": queues,
        "env": {"production": {"vars": {"ORDERS": "orders-prod"}, "queues": production}, "staging": {"vars": {"ORDERS": "odd"}, "queues": queues}},
    }  # fmt: skip
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "index.ts").write_text(entry)
    (tmp_path / "wrangler.json").write_text(json.dumps(config))
    found = [each for each in lint_paths([tmp_path]).findings if each.name == "queue-not-handled"]
    assert [(each.environment, each.message.split("'")[1]) for each in found] == [("staging", "orders")]
