"""The published schema takes every report that is printed, and nothing else."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from emulator.cli import generate
from emulator.cli import main as run
from emulator.simulate.output import schema
from emulator.simulate.settings import KEYS, LOADS
from emulator.simulate.sweep import simulate
from tests.emulator.simulation.scenarios import scenarios

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads(schema.text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
CONFIG = {
    "name": "shop", "main": "src/index.js", "compatibility_date": "2026-01-01",
    "queues": {
        "producers": [{"binding": "ORDERS", "queue": "orders"}, {"binding": "MAILS", "queue": "mails"}],
        "consumers": [
            {"queue": "orders", "max_retries": 1, "dead_letter_queue": "orders-dead"},
            {"queue": "mails", "max_batch_size": 1, "max_concurrency": 1},
        ],
    },
}  # fmt: skip
LOAD = ["--rate", "5/s", "--duration", "30s", "--outage", "5s@10s", "--outage", "5s@25s", "--failure", "20%"]
COMMANDS = {
    "exact": LOAD,
    "batched and checked": [*LOAD, "--method", "batched", "--slice", "5s"],
    "batched, unchecked": [*LOAD, "--method", "batched", "--no-verify"],
    "Free plan": [*LOAD, "--plan", "free", "--failure-mode", "message"],
    "drained": [*LOAD, "--drain", "--per-message", "3ms"],
    "no failure": ["--rate", "1/h", "--duration", "1s", "--seed", "-1"],
    "refused": ["--rate", "6000/s", "--duration", "2s", "--method", "batched", "--no-verify", "--queue", "orders"],
    "two settings": [*LOAD, "--compare-set", "max_concurrency=auto"],
    "two files": [*LOAD, "--compare", "other.json", "--queue", "orders", "--dead-letter-failure", "1"],
    "sweep": [*LOAD, "--sweep", "max_concurrency=auto,1", "--sweep", "rate=5/s,1/min", "--workers", "1"],
    "sweep, Free plan": ["--rate", "1/s", "--duration", "20s", "--plan", "free", "--sweep", "max_retries=0", "--workers", "1"],
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    config = copy.deepcopy(CONFIG)
    (folder / "wrangler.json").write_text(json.dumps(config), encoding="utf-8")
    config["queues"]["consumers"].append({"queue": "orders-dead"})
    (folder / "other.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, arguments in COMMANDS.items():
            assert run(["simulate", "wrangler.json", *arguments, "--format", "json", "--output", f"{name}.out"]) == 0
    return {name: json.loads((folder / f"{name}.out").read_text(encoding="utf-8")) for name in COMMANDS}


def brief(document):
    """The document with two rows of each course over time: enough to be wrong in."""
    document = copy.deepcopy(document)
    for report in document.get("runs", [document]):
        for queue in report.get("queues", ()):
            queue["series"] = {name: values[:2] for name, values in queue["series"].items()}
    return document


def places(value, *way):
    """Everything in a document with the way to it."""
    yield way, value
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], *way, key)


def changed(document, way, change):
    """A copy in which what stands at the end of a way is given to `change`."""
    document = copy.deepcopy(document)
    change(at(document, way))
    return document


def at(document, way):
    """What stands at the end of a way."""
    for key in way:
        document = document[key]
    return document


def test_it_is_legal_and_every_number_says_what_it_counts():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for way, node in places(SCHEMA):
        kinds = node.get("type") if isinstance(node, dict) else None
        kinds = {kinds} if isinstance(kinds, str) else set(kinds or ()) if isinstance(kinds, list) else set()
        assert not kinds & {"integer", "number"} or node["description"], way
        assert "object" not in kinds or node["additionalProperties"] is False, way


def test_the_published_file_is_fresh():
    assert (ROOT / "schemas" / "simulation.schema.json").read_text(encoding="utf-8") == schema.text(), "run make generate"


def test_a_stale_file_is_found_and_written_anew(tmp_path, monkeypatch, capsys):
    (tmp_path / "schemas").mkdir()
    page = tmp_path / generate.FAULTS_PAGE
    page.parent.mkdir(parents=True)
    page.write_text("# Faults\n\n<!-- faults -->\n<!-- /faults -->\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert generate.main([]) == 0
    assert all(path.is_file() for path in generate.MADE)
    assert generate.main(["--check"]) == 0
    Path("schemas/simulation.schema.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert generate.main(["--check"]) == 1
    assert capsys.readouterr().out.count("stale: ") == 1
    assert generate.main([]) == 0
    assert json.loads(Path("schemas/simulation.schema.json").read_text(encoding="utf-8")) == SCHEMA


@pytest.mark.parametrize("name", COMMANDS)
def test_every_report_is_valid(documents, name):
    VALIDATOR.validate(documents[name])


def test_the_reports_are_of_every_kind(documents):
    assert "check" in documents["batched and checked"]
    assert "check" not in documents["exact"]
    assert documents["exact"]["method"] == "exact"
    assert documents["batched, unchecked"]["method"] == "batched"
    assert documents["Free plan"]["cost"]["month_usd"] is None
    assert documents["refused"]["queues"][0]["totals"]["refused"]
    assert [queue["consumer"] is None for queue in documents["exact"]["queues"]] == [False, False, True]
    assert documents["exact"]["queues"][1]["retries_by_attempt"]
    assert documents["drained"]["queues"][0]["end_seconds"] > 30
    assert {outage["recovered_after_seconds"] is None for queue in documents["exact"]["queues"] for outage in queue["outages"]} == {True, False}
    assert len(documents["two files"]["runs"]) == 2
    assert {row["settings"]["max_concurrency"] for row in documents["sweep"]["sweep"]} == {None, 1}


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(scenarios())
def test_the_report_of_whatever_is_drawn_is_valid(case):
    VALIDATOR.validate(json.loads(json.dumps(simulate(case, "batched"))))


@pytest.mark.parametrize("name", ["batched and checked", "two settings", "sweep"])
def test_no_key_may_come_or_go_anywhere(documents, name):
    document = brief(documents[name])
    VALIDATOR.validate(document)
    for way, value in places(document):
        if isinstance(value, dict):
            assert not VALIDATOR.is_valid(changed(document, way, lambda place: place.update(more=0))), way
            for key in value:
                free = key == "check" or way[-1:] in {("retries_by_attempt",), ("settings",)}
                assert VALIDATOR.is_valid(changed(document, way, lambda place, key=key: place.pop(key))) == free, (*way, key)


@pytest.mark.parametrize("name", ["batched and checked", "sweep"])
def test_no_value_may_be_of_another_kind_or_below_nothing(documents, name):
    document = brief(documents[name])
    for way, value in places(document):
        if way and not isinstance(value, dict | list):
            *before, key = way
            others = {str: [0, [], None], bool: [0, "true", None], int: ["1", True, -1], float: ["1", True, -1], type(None): ["1", True, -1]}
            may = {"seed": [-1], "dead_letter_queue": [None, "1"]}.get(key, [])
            for other in others[type(value)]:
                if other in may:
                    continue
                place = at(document, before)  # in place: a copy for each of some thousand values takes longer than the looking
                place[key] = other
                assert not VALIDATOR.is_valid(document), (way, other)
                place[key] = value


def test_what_is_swept_is_a_setting_in_its_range(documents):
    document = documents["sweep"]

    def valid(**values):
        return VALIDATOR.is_valid(changed(document, ("sweep", 0), lambda row: row.update(settings=values)))

    for name, key in KEYS.items():
        assert valid(**{name: key.low})
        assert valid(**{name: key.high})
        assert not valid(**{name: key.low - 1})
        assert not valid(**{name: key.high + 1})
        assert valid(**{name: None}) == key.auto
    assert all(valid(**{name: "1"}) and not valid(**{name: 1}) for name in LOADS)
    assert not valid()
    assert not valid(max_tries=1)


def test_a_check_belongs_to_a_run_by_count_and_kinds_do_not_mix(documents):
    checked = documents["batched and checked"]
    assert not VALIDATOR.is_valid({**checked, "method": "exact"})
    assert not VALIDATOR.is_valid({**checked, "version": 2})
    assert not VALIDATOR.is_valid({**documents["sweep"], "runs": documents["two settings"]["runs"]})
    assert not VALIDATOR.is_valid({**documents["two settings"], "runs": documents["two settings"]["runs"][:1]})
    assert not VALIDATOR.is_valid({**documents["sweep"], "sweep": []})
    assert not VALIDATOR.is_valid([checked])
