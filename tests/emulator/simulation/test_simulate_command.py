"""`cfq-emulator simulate` from the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CONFIG = """{
  "name": "shop", "main": "src/index.js", "compatibility_date": "2026-01-01",
  "queues": {
    "producers": [{"binding": "ORDERS", "queue": "orders"}],
    "consumers": [{"queue": "orders", "max_retries": 3, "dead_letter_queue": "orders-dead"}]
  }
}"""
OUTAGE = ["--rate", "5/s", "--duration", "10m", "--outage", "2m@3m", "--failure", "3%", "--failure-mode", "message"]
LONG = ["--rate", "500/s", "--duration", "20m", "--outage", "100s@5m", "--failure", "3%", "--failure-mode", "message"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "wrangler.jsonc").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def run(folder, *arguments, code=0, **environment):
    command = [sys.executable, "-m", "emulator.cli", "simulate", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "", "COLUMNS": "80", "PYTHONUTF8": "1", **environment}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_the_sentence_that_somebody_wants_is_said(folder):
    done = run(folder, "wrangler.jsonc", *OUTAGE)
    said = " ".join(done.stdout.split())
    assert "messages of the outage of 2 min were dead-lettered to orders-dead: 3 retries 0 s apart last 800 ms" in said
    assert "max_retries x retry_delay must exceed 120 s: retry_delay 41 with max_retries 3, or retry_delay 2 with max_retries 100" in said
    assert "Method: exact" in done.stdout


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_text_fits_and_is_coloured_only_where_wanted(folder, columns):
    plain = run(folder, "wrangler.jsonc", *OUTAGE, COLUMNS=str(columns)).stdout
    assert max(map(len, plain.splitlines())) <= columns
    assert "\x1b" not in plain
    coloured = run(folder, "wrangler.jsonc", *OUTAGE, COLUMNS=str(columns), FORCE_COLOR="1").stdout
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    assert "\x1b" not in run(folder, "wrangler.jsonc", *OUTAGE, FORCE_COLOR="1", NO_COLOR="1").stdout
    run(folder, "wrangler.jsonc", *OUTAGE, "--output", "report.txt", COLUMNS=str(columns), FORCE_COLOR="1")
    assert (folder / "report.txt").read_text(encoding="utf-8") == plain, "a file is no terminal"


@pytest.mark.parametrize(("rate", "said"), [("500/s", "500/s for"), ("90/min", "1.5/s for"), ("30/min", "30/min for"), ("2/h", "2/h for"), ("1/day", "1/day for")])
def test_a_rate_is_said_as_it_was_given_also_where_it_is_low(folder, rate, said):
    text = run(folder, "wrangler.jsonc", "--rate", rate, "--duration", "1m").stdout
    assert said in text
    assert "no message was lost: " in text


def test_a_run_by_count_carries_its_check_and_is_the_same_again(folder):
    once = run(folder, "wrangler.jsonc", *LONG, "--slice", "20s", "--format", "json")
    assert once.stdout == run(folder, "wrangler.jsonc", *LONG, "--slice", "20s", "--format", "json").stdout
    report = json.loads(once.stdout)
    assert report["method"] == "batched"
    assert report["check"]["largest_difference"] == 0
    [orders, dead] = report["queues"]
    assert orders["totals"]["sent"] == 600_000
    assert 49_500 < orders["totals"]["dead_lettered"] < 50_500
    assert dead["totals"]["sent"] == orders["totals"]["dead_lettered"]
    assert len(orders["series"]["seconds"]) == len(orders["series"]["backlog"])
    assert re.search(r"[\d,]+ x as fast as exact emulation of this load", once.stderr)


def test_both_methods_give_the_same_report_of_a_short_run(folder):
    one, other = (json.loads(run(folder, ".", *OUTAGE, "--method", m, "--no-verify", "--format", "json").stdout) for m in ("exact", "batched"))
    for key in ("method", "approximation"):
        del one[key], other[key]
    assert one == other


def test_side_by_side(folder):
    done = run(folder, "wrangler.jsonc", *OUTAGE, "--compare-set", "max_retries=100", "--compare-set", "retry_delay=2")
    rows = {line[:20].strip(): line[20:].split() for line in done.stdout.splitlines()}
    assert rows["max_retries"] == ["3", "100"]
    assert rows["dead-lettered"][1] == "0"
    other = CONFIG.replace('"max_retries": 3', '"max_retries": 50, "retry_delay": 10')
    (folder / "other.jsonc").write_text(other, encoding="utf-8")
    both = json.loads(run(folder, "wrangler.jsonc", *OUTAGE, "--compare", "other.jsonc", "--format", "json").stdout)
    assert [r["queues"][0]["consumer"]["max_retries"] for r in both["runs"]] == [3, 50]


def test_a_sweep_is_kept_and_goes_on_after_what_was_cut_off(folder):
    sweep = ["wrangler.jsonc", *OUTAGE, "--sweep", "max_retries=1..3", "--sweep", "retry_delay=0,10", "--resume", "kept.jsonl", "--format", "json"]
    whole = run(folder, *sweep).stdout
    rows = json.loads(whole)["sweep"]
    assert [tuple(row["settings"].values()) for row in rows] == [(n, d) for n in (1, 2, 3) for d in (0, 10)]
    kept = (folder / "kept.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(kept) == 6
    (folder / "kept.jsonl").write_text("".join(kept[:3]) + kept[3][:40], encoding="utf-8")
    assert run(folder, *sweep, "--workers", "1").stdout == whole
    assert len((folder / "kept.jsonl").read_text(encoding="utf-8").splitlines()) == 7
    run(folder, *sweep, "--failure", "4%")
    assert len((folder / "kept.jsonl").read_text(encoding="utf-8").splitlines()) == 13, "another load has other results"


def test_the_page_is_one_file_that_asks_nobody(folder):
    run(folder, "wrangler.jsonc", *OUTAGE, "--format", "html", "--output", "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=|url\(""", page)
    assert page.count('role="img"') >= 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rate", "5x"], "rate: '5x' is no rate; write 500/s"),
        (["--rate", "0/s"], "rate: '0/s' is no message at all"),
        (["--rate", "0.0000000001/s"], "rate: '0.0000000001/s' is no message at all"),
        (["--rate", "5/s", "--failure", "130%"], "failure: '130%' is no share from 0 to 1; write 3%"),
        (["--rate", "5/s", "--outage", "2h"], "outage '2h': expected how long and when it begins, such as 2h@6h"),
        (["--rate", "5/s", "--outage", "2h@23h"], "ends 25 h after the start, the run after 24 h"),
        (["--rate", "5/s", "--outage", "2h@1h", "--outage", "2h@2h"], "overlap"),
        (["--rate", "5/s", "--duration", "soon"], "duration: 'soon' is no time"),
        (["--rate", "5/s", "--size", "big"], "size: 'big' is no size"),
        (["--rate", "5/s", "--sweep", "max_tries=1..3"], "there is no setting 'max_tries'"),
        (["--rate", "5/s", "--sweep", "max_retries=1..1000"], "max_retries 1000: allowed is a whole number from 0 to 100"),
        (["--rate", "5/s", "--sweep", "max_retries=9..1"], "counts to nowhere"),
        (["--rate", "5/s", "--set", "max_retries"], "expected a setting and its value"),
        (["--rate", "5/s", "--queue", "mails"], "nobody consumes 'mails' (consumed: orders)"),
        (["--rate", "5/s", "--format", "xml"], "format 'xml'"),
        (["--rate", "5/s", "--plan", "free", "--set", "message_retention_period=60"], "on the Free plan it is 86400 s"),
    ],
)
def test_bad_input_gets_one_clear_line(folder, arguments, said):
    done = run(folder, "wrangler.jsonc", *arguments, code=2)
    assert said in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1


def test_files_without_consumers_and_missing_files_are_said(folder):
    (folder / "none.jsonc").write_text('{"name": "shop", "compatibility_date": "2026-01-01"}', encoding="utf-8")
    assert "nothing to simulate" in run(folder, "none.jsonc", "--rate", "1/s", code=2).stderr
    assert "missing.jsonc" in run(folder, "missing.jsonc", "--rate", "1/s", code=2).stderr


def test_it_works_without_what_only_the_server_needs(folder):
    (folder / "hidden").mkdir()
    for name in ("uvicorn", "starlette", "prometheus_client"):
        (folder / "hidden" / f"{name}.py").write_text(f"raise ModuleNotFoundError(name={name!r})", encoding="utf-8")
    run(folder, "wrangler.jsonc", *OUTAGE, PYTHONPATH=f"{folder / 'hidden'}:{ROOT}")


def test_the_free_plan_and_a_load_too_large_for_it(folder):
    said = run(folder, "wrangler.jsonc", "--rate", "1/s", "--duration", "10m", "--plan", "free").stdout
    assert "10,000 operations a day" in " ".join(said.split())


def facts(folder, **measured):
    """A file as `cfq-lint audit --write-facts` writes it: four hours, in the second of which nothing succeeded."""
    hours = [
        {"hour": 0, "written": 60, "delivered": 66, "succeeded": 60, "bytes_written": 120_000, "operations": 190, "backlog_messages": 2.0},
        {"hour": 1, "written": 30, "delivered": 120, "succeeded": 0, "dead_lettered": 30, "bytes_written": 60_000, "operations": 180, "backlog_messages": 9.0},
        {"hour": 3, "written": 10, "delivered": 11, "succeeded": 10, "bytes_written": 20_000, "operations": 31},
    ]  # fmt: skip
    window = {"start": "2026-01-01T00:00:00Z", "end": "2026-01-01T04:00:00Z", "workers": {"shop": {"requests": 4, "wall_us": 3_000_000.0}}}
    queues = {"queues": {"orders": {"id": "1", "hours": hours}}}
    (folder / "facts.json").write_text(json.dumps({"measured": {**window, **queues, **measured}}), encoding="utf-8")


def test_what_the_account_measured_is_run_again_with_other_settings_beside_it(folder):
    facts(folder)
    one = json.loads(run(folder, ".", "--from-account", "facts.json", "--format", "json").stdout)
    [orders, dead] = one["queues"]
    assert orders["measured"] == {
        "window": "4 hours to 2026-01-01T04:00:00Z", "sent": 100, "delivered": 197, "acked": 70, "dead_lettered": 30, "dropped": 0, "operations": 401,
        "backlog_max": 9.0, "failure": 1 - 70 / 77, "size_bytes": 2_000, "processing_seconds": 0.75,
    }  # fmt: skip
    assert "measured" not in dead
    assert one["load"] | {"rate_per_second": 100 / 14_400, "duration_seconds": 14_400, "failure_mode": "message", "size_bytes": 2_000} == one["load"]
    assert (orders["totals"]["sent"], orders["totals"]["dead_lettered"], dead["totals"]["sent"]) == (100, 30, 30)
    assert [(each["start_seconds"], each["end_seconds"]) for each in orders["outages"]] == [(3_600, 7_200)]
    both = run(folder, ".", "--from-account", "facts.json", "--compare-set", "max_retries=50", "--compare-set", "retry_delay=100").stdout
    assert "what the account measured in 4 hours to 2026-01-01T04:00:00Z, hour by hour: 100 messages; 9.09 % of deliveries fail" in " ".join(both.split())
    rows = {line[:19].strip(): line[19:].split() for line in both.partition("orders\n")[2].partition("\n\n")[0].splitlines()}
    assert rows[""] == ["measured", "[A]", "[B]"]
    assert rows["sent"] == ["100", "100", "100"]
    assert rows["dead-lettered"] == ["30", "30", "0"]
    assert rows["largest backlog"][:2] == ["9", "(an"]


@pytest.mark.parametrize(("measured", "options", "said"), [
    ({}, ["--rate", "1/s", "--size", "1KB"], "--from-account brings what --rate, --size would say: leave them out"),
    ({"queues": {"others": {"id": "2", "hours": [{"hour": 0, "written": 1}]}}}, [], ".: nothing was written to its queues in 4 hours to 2026-01-01T04:00:00Z"),
    ({"missing": {"operations": "no permission"}}, [], "facts.json: messages were not counted: no permission"),
    ({"end": "2026-01-01T03:30:00Z"}, [], "a window has whole hours"),
    ({}, ["--sweep", "rate=1/s,2/s"], "the rate is what the account measured, hour by hour, and cannot be set"),
])  # fmt: skip
def test_what_cannot_be_run_again_is_said(folder, measured, options, said):
    facts(folder, **measured)
    assert said in run(folder, ".", "--from-account", "facts.json", *options, code=2).stderr


def test_a_load_or_an_account_is_needed(folder):
    assert "what is sent? Give --rate 500/s, or --from-account FACTS" in run(folder, ".", code=2).stderr
