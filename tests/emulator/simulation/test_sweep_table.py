"""A sweep in the terminal: it fits, and every value of its JSON form stands in it."""

from __future__ import annotations

import json
import re

import pytest

from emulator.cli import main as run
from emulator.simulate.output import sweep_table as outline
from emulator.simulate.settings import LOADS
from emulator.simulate.units import compact, span

CONFIG = {
    "name": "shop", "main": "src/index.js", "compatibility_date": "2026-01-01",
    "queues": {
        "producers": [{"binding": "ORDERS", "queue": "orders"}],
        "consumers": [{"queue": "orders", "max_retries": 3, "dead_letter_queue": "orders-dead"}],
    },
}  # fmt: skip
LOAD = ["--rate", "50/s", "--duration", "5m", "--outage", "1m@2m", "--failure", "3%", "--method", "batched", "--workers", "1"]
MESSAGE = [*LOAD, "--failure-mode", "message"]
TRIES, DELAY, KEPT = "max_retries=1,3", "retry_delay=0,10", "message_retention_period=60,345600"
SWEEPS = {
    "one": [*MESSAGE, "--sweep", TRIES],
    "two": [*MESSAGE, "--sweep", TRIES, "--sweep", DELAY],
    "three": [*MESSAGE, "--sweep", TRIES, "--sweep", DELAY, "--sweep", KEPT],
    "one, batches throw": [*LOAD, "--sweep", TRIES],
    "two, batches throw": [*LOAD, "--sweep", TRIES, "--sweep", DELAY],
    "three, batches throw": [*LOAD, "--sweep", TRIES, "--sweep", DELAY, "--sweep", KEPT],
    "nothing happens": ["--rate", "1/s", "--duration", "1m", "--workers", "1", "--sweep", "max_batch_size=1,100"],
    "loads": [*MESSAGE, "--sweep", "rate=1/min,6000/s", "--sweep", "failure=0,2%", "--sweep", "processing=1s,2s"],
    "Free plan": [*LOAD, "--plan", "free", "--sweep", TRIES],
    "outages": [*MESSAGE, *("--outage", "5s@10s", "--outage", "10s@50s", "--outage", "1m@4m"), "--sweep", "max_concurrency=auto,1,5"],
    "a label": [*MESSAGE, "--set", "max_batch_size=100", "--set", "max_batch_timeout=60", "--set", "max_concurrency=250", "--sweep", TRIES],
}
FULL, SHORT, BLOCKS = "whole words", "short heads", "blocks"
FORMS = {
    "one": (FULL, SHORT, BLOCKS), "two": (FULL, SHORT, BLOCKS), "three": (SHORT, BLOCKS, BLOCKS),
    "one, batches throw": (FULL, SHORT, BLOCKS), "two, batches throw": (FULL, BLOCKS, BLOCKS),
    "three, batches throw": (SHORT, BLOCKS, BLOCKS), "nothing happens": (FULL, FULL, SHORT), "outages": (SHORT, BLOCKS, BLOCKS),
}  # fmt: skip
WIDTHS = (120, 80, 60)


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory):
    """By name: the JSON form, and the text by columns."""
    folder = tmp_path_factory.mktemp("sweeps")
    (folder / "wrangler.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, arguments in SWEEPS.items():
            command = ["simulate", "wrangler.json", *arguments, "--resume", "kept.jsonl", "--output", "out"]
            assert run([*command, "--format", "json"]) == 0
            document, texts = json.loads((folder / "out").read_text(encoding="utf-8")), {}
            for columns in (*WIDTHS, 40):
                patch.setenv("COLUMNS", str(columns))
                assert run(command) == 0
                texts[columns] = (folder / "out").read_text(encoding="utf-8")
            found[name] = document, texts
    return found


def read(text):
    """A text as its head in one line, its form, and its runs: cells by head."""
    head, _, body = text.partition("\n\n")
    lines = body.splitlines()
    if not lines[1].startswith("--"):
        return " ".join(head.split()), BLOCKS, [block(part) for part in body.split("\n\n")]
    spans = [match.span() for match in re.finditer("-+", lines[1])]
    heads, *rows = [[line[start:end].strip() for start, end in spans] for line in (lines[0], *lines[2:])]
    form = SHORT if heads[-1] in {"USD/mo", "ops/mo"} else FULL
    assert len(set(heads)) == len(heads)
    return " ".join(head.split()), form, [dict(zip(heads, row, strict=True)) for row in rows]


def block(text):
    """One run of a block, where a line without a head goes on with the one above."""
    found = {}
    for line in text.splitlines():
        name, value = re.fullmatch(r"(\S+(?: \S+)*)?\s\s+(\S.*)", line).groups()
        if name is None:
            found[[*found][-1]] += f" {value}"
        else:
            assert name not in found
            found[name] = value
    return found


def expected(row, rows, form):
    """What must be read of a row of the JSON form, by head, written as it is in whole words or in few letters."""
    few = form == SHORT
    count = compact if few else "{:,}".format
    made = {name: "auto" if value is None else str(value) for name, value in row["settings"].items()}
    made |= {head: count(row[name]) for name, head in outline.MEASURES.items() if any(each[name] for each in rows)}
    made |= {"at a time": count(row["concurrency_max"])}
    made |= {"backlog": count(row["backlog_max"]), "oldest": span(row["oldest_seconds_max"] * 1e6)}
    if len({each["sent"] for each in rows}) > 1:
        made["sent"] = count(row["sent"])
    if row["recovered"]:
        made["recovered"] = row["recovered"]
    made["operations/month"] = count(row["operations_a_month"])
    if row["month_usd"] is not None:
        made["USD/month"] = compact(row["month_usd"]) if few else f"{row['month_usd']:,.2f}"
    if few:
        for head in {"oldest", "recovered"} & made.keys():
            made[head] = made[head].replace("not within the run", "never").replace(" ", "")
        made = {outline.SHORT.get(head, head): value for head, value in made.items()}
    return made


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize("columns", [*WIDTHS, 40])
def test_no_line_is_wider_than_the_terminal(sweeps, name, columns):
    lines = sweeps[name][1][columns].splitlines()
    assert max(map(len, lines)) <= columns
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("name", FORMS)
def test_words_are_as_long_as_there_is_room(sweeps, name):
    texts = sweeps[name][1]
    assert tuple(read(texts[columns])[1] for columns in WIDTHS) == FORMS[name]


@pytest.mark.parametrize("name", SWEEPS)
@pytest.mark.parametrize("columns", [*WIDTHS, 40])
def test_every_value_of_the_json_form_is_in_the_text(sweeps, name, columns):
    document, texts = sweeps[name]
    rows = document["sweep"]
    head, form, found = read(texts[columns])
    assert len(found) == len(rows)
    for row, cells in zip(rows, found, strict=True):
        wanted = expected(row, rows, form)
        if form != BLOCKS:
            # In a table without room the concurrency is left out, and then the operations, for which the price stands.
            spare = ("at a time", "busy", *(("operations/month", "ops/mo") if row["month_usd"] is not None else ()))
            wanted |= {head: cells.get(head, "gone") for head in spare if head in wanted}
            wanted = {head: value for head, value in wanted.items() if value != "gone"}
        assert cells == wanted
    assert head.startswith(document["label"])
    sent = {row["sent"] for row in rows}
    assert (f"{max(sent):,} messages are sent in each run." in head) == (len(sent) == 1)


def test_operations_stand_wherever_there_is_room_and_always_where_they_have_no_price(sweeps):
    for name, (document, texts) in sweeps.items():
        for columns, text in texts.items():
            _, form, [first, *_] = read(text)
            there = {"operations/month", "ops/mo"} & first.keys()
            if form == BLOCKS or document["load"]["plan"] == "free":
                assert there, (name, columns)
            elif not there:
                missing = compact(document["sweep"][0]["operations_a_month"]) if form == SHORT else "operations/month"
                assert max(map(len, text.partition("\n\n")[2].splitlines())) + 2 + len(missing) > columns, (name, columns)


def test_what_is_zero_in_every_run_has_no_column(sweeps):
    _, _, found = read(sweeps["nothing happens"][1][80])
    assert not {"dead letters", "deleted", "done twice", "expired", "retries", "recovered"} & found[0].keys()


def test_a_swept_load_is_not_said_to_be_that_of_every_run(sweeps):
    for name, (document, texts) in sweeps.items():
        swept = [key for key in document["sweep"][0]["settings"] if key in LOADS]
        for text in texts.values():
            said = read(text)[0]
            assert (f"Each run has its own {', '.join(swept)}; here stands the first run's." in said) == bool(swept), name


def test_each_of_several_recoveries_keeps_its_place():
    """One that is over and one that is not, in few letters."""
    row = {
        "settings": {"max_retries": 1}, "sent": 10, **dict.fromkeys(outline.MEASURES, 0), "concurrency_max": 1, "backlog_max": 1, "oldest_seconds_max": 1.0,
        "recovered": "2 h 5 min, not within the run", "recovered_seconds": None, "operations_a_month": 999_999, "month_usd": 0.4,
    }  # fmt: skip
    rows = [row, {**row, "recovered": "not within the run, 390 ms"}]
    brief = {column.short: column.brief for column in outline.columns(rows)}
    assert brief["recov."] == ["2h5min,never", "never,390ms"]
    assert brief["ops/mo"] == ["1M", "1M"]
    assert brief["USD/mo"] == ["0.4", "0.4"]


def test_a_setting_longer_than_a_block_is_wrapped():
    row = {
        "settings": {"rate": "0." + "0" * 60 + "1/s"}, "sent": 1, **dict.fromkeys(outline.MEASURES, 0), "concurrency_max": 1, "backlog_max": 1, "oldest_seconds_max": 1.0,
        "recovered": "", "recovered_seconds": None, "operations_a_month": 3, "month_usd": None,
    }  # fmt: skip
    load = {
        "rate_per_second": 1.0, "duration_seconds": 1.0, "outages": [], "failure": 0.0, "processing_per_message_seconds": 0.0,
        "processing_seconds": 0.0, "failure_mode": "batch", "size_bytes": 1, "plan": "free", "seed": 0,
    }  # fmt: skip
    text = outline.text([row], {"label": "x" * 100, "load": load, "queues": []}, 40)
    assert max(map(len, text.splitlines())) <= 40


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (0.4, "0.4"), (99.96, "100"), (9_999, "9,999"), (999_499, "999k"), (999_500, "1M"), (999_999, "1M"), (999_999_999, "1G")],
)
def test_few_letters_are_never_a_power_of_ten(value, said):
    assert compact(value) == said


@pytest.mark.parametrize(("us", "said"), [(0, "0 s"), (999_499, "999 ms"), (999_500, "1 s"), (59_960_000, "60 s"), (60_000_000, "1 min")])
def test_a_moment_less_than_a_second_is_one(us, said):
    assert span(us) == said
