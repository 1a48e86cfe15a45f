"""A baseline accepts what a project had when it began to lint, and nothing new."""

from __future__ import annotations

import json

import pytest

from .support import findings_of, run

OLD = '{ "queues": { "consumers": [{ "queue": "a", "max_retries": 500 }, { "queue": "b", "max_retries": 500 }] } }\n'


@pytest.fixture
def room(tmp_path):
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "wrangler.jsonc").write_text(OLD, encoding="utf-8")
    done = run("check", "--write-baseline", "baseline.json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    return tmp_path


def names(done):
    return sorted(f["name"] for f in findings_of(done) if f["severity"] != "info")


def check(room, *arguments, cwd=None):
    return run("check", "--baseline", "baseline.json", "--format", "json", *arguments, cwd=cwd or room)


def test_what_is_in_the_baseline_is_accepted_and_counted(room):
    done = check(room)
    assert done.returncode == 0
    assert names(done) == []
    assert json.loads(done.stdout)["summary"]["baselined"] >= 4
    assert b"baseline" in run("check", "--baseline", "baseline.json", cwd=room).stdout


def test_moved_lines_and_reformatting_change_nothing(room):
    plain = json.loads(OLD)
    (room / "apps" / "wrangler.jsonc").write_text("// moved\n\n" + json.dumps(plain, indent=4), encoding="utf-8")
    assert names(check(room)) == []


def test_a_new_finding_is_told(room):
    (room / "apps" / "wrangler.jsonc").write_text(OLD.replace('"max_retries": 500 }]', '"max_retries": 500, "max_batch_size": 500 }]'), encoding="utf-8")
    done = check(room)
    assert done.returncode == 1
    assert names(done) == ["max-batch-size-range"]


def test_one_more_of_the_same_is_one_more(room):
    (room / "apps" / "wrangler.jsonc").write_text(OLD.replace("}] }", '}, { "queue": "c", "max_retries": 500, "dead_letter_queue": "d" }] }'), encoding="utf-8")
    assert names(check(room)) == ["max-retries-range"]


def test_the_same_mistake_in_another_file_is_new(room):
    (room / "wrangler.toml").write_text('[[queues.consumers]]\nqueue = "z"\nmax_retries = 500\n', encoding="utf-8")
    assert names(check(room)) == ["consumer-without-dlq", "max-retries-range"]


def test_a_repaired_finding_leaves_the_rest_accepted(room):
    (room / "apps" / "wrangler.jsonc").write_text(OLD.replace("500", "5"), encoding="utf-8")
    assert names(check(room)) == []


def test_paths_are_relative_to_the_baseline(room):
    done = run("check", "--baseline", "../baseline.json", "--format", "json", ".", cwd=room / "apps")
    assert names(done) == []


def test_the_file_is_stable_and_has_no_lines(room):
    first = (room / "baseline.json").read_text(encoding="utf-8")
    run("check", "--write-baseline", "baseline.json", cwd=room)
    assert (room / "baseline.json").read_text(encoding="utf-8") == first
    assert "apps/wrangler.jsonc" in first
    assert str(room) not in first
    assert '"line"' not in first


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 9, "accepted": {}}', '{"version": 1, "accepted": []}', '{"version": 1, "accepted": {"a": 5}}', "\xff"])
def test_what_is_no_baseline_is_exit_2_with_a_line(text, room):
    (room / "baseline.json").write_bytes(text.encode("latin-1"))
    done = check(room)
    assert done.returncode == 2
    assert b"baseline.json" in done.stderr
    assert b"Traceback" not in done.stderr
