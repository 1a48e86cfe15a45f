"""`cfq-lint diff OLD NEW`: what a deploy would change for queues, and what it would leave behind in the account."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from cfq_lint.run.changes import ADDED, CHANGED, DEFAULTED, REMOVED, compare

from .support import document_of, run

OLD = """{
  "name": "shop",
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }, { "binding": "MAIL", "queue": "mail" }],
    "consumers": [{ "queue": "orders", "max_retries": 5, "retry_delay": 60, "dead_letter_queue": "orders-dlq" }, { "queue": "mail" }]
  },
  "env": { "staging": { "queues": { "consumers": [{ "queue": "orders-staging", "max_batch_size": 50 }] } } }
}
"""
NEW = """{
  "name": "shop",
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders-v2" }, { "binding": "AUDIT", "queue": "audit" }],
    "consumers": [{ "queue": "orders", "max_retries": 7 }, { "queue": "audit" }]
  },
  "env": { "staging": { "queues": { "consumers": [{ "queue": "orders-staging", "max_batch_size": 50 }] } } }
}
"""


def changes_of(old, new, name="wrangler.jsonc"):
    made = compare([document_of(old, name)] if old else [], [document_of(new, name)] if new else [])
    return {(c.environment, c.queue, c.what, c.how, c.before, c.after) for c in made.changes}, made.findings


def test_every_difference_is_told_once():
    changes, _ = changes_of(OLD, NEW)
    assert changes == {
        (None, "mail", "consumer", REMOVED, None, None),
        (None, "audit", "consumer", ADDED, None, None),
        (None, "orders", "max_retries", CHANGED, "5", "7"),
        (None, "orders", "retry_delay", DEFAULTED, "60", "0"),
        (None, "orders", "dead_letter_queue", DEFAULTED, '"orders-dlq"', "none"),
        (None, "orders-v2", "producer", CHANGED, "orders", "orders-v2"),
        (None, "mail", "producer", REMOVED, "MAIL", None),
        (None, "audit", "producer", ADDED, None, "AUDIT"),
    }


def test_a_removed_consumer_stays_attached_and_the_command_is_given():
    _, [finding] = changes_of(OLD, NEW)
    assert (finding.code, finding.name, finding.severity) == ("CFQ410", "consumer-removed-still-attached", "warning")
    assert "wrangler queues consumer remove mail shop" in finding.message
    assert OLD[finding.place.start : finding.place.end] == '"mail"'


def test_the_same_twice_is_no_change():
    assert changes_of(OLD, OLD) == (set(), ())
    assert changes_of(NEW, NEW) == (set(), ())


def test_writing_a_default_down_is_no_change():
    assert changes_of('{ "queues": { "consumers": [{ "queue": "a" }] } }', '{ "queues": { "consumers": [{ "queue": "a", "max_retries": 3 }] } }') == (set(), ())


def test_an_environment_that_goes_leaves_its_consumers_behind():
    changes, [finding] = changes_of(OLD, OLD.replace('"staging"', '"production"').replace("orders-staging", "orders-production"))
    assert ("staging", "orders-staging", "consumer", REMOVED, None, None) in changes
    assert ("production", "orders-production", "consumer", ADDED, None, None) in changes
    assert finding.environment == "staging"
    assert "shop-staging" in finding.message


def test_a_change_is_told_in_the_words_of_the_file():
    text = "export default ({{ mode }}) => ({{ worker: {{ name: 'w', triggers: [{{ type: 'queue', name: 'q', maxRetries: mode === 's' ? {} : 3 }}] }} }});"
    sides = [[document_of(text.format(number), "cloudflare.config.ts")] for number in (4, 5)]
    assert [change.said for change in compare(*sides).changes] == ["cloudflare.config.ts: mode 's': 'q' maxRetries 4 → 5 (changed)"]


def test_a_file_that_goes_leaves_everything_behind():
    changes, findings = changes_of(OLD, None)
    assert len(findings) == 3
    assert {how for *_, how, _, _ in changes} == {REMOVED}
    assert {how for *_, how, _, _ in changes_of(None, OLD)[0]} == {ADDED}


def test_languages_do_not_matter(tmp_path):
    (tmp_path / "old.toml").write_text('[[queues.consumers]]\nqueue = "a"\nmax_retries = 5\n', encoding="utf-8")
    (tmp_path / "new.jsonc").write_text('{ "queues": { "consumers": [{ "queue": "a", "max_retries": 5 }] } }', encoding="utf-8")
    done = run("diff", "old.toml", "new.jsonc", cwd=tmp_path)
    assert done.returncode == 0
    assert b"nothing" in done.stdout


def put(folder, text, name="wrangler.jsonc"):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("kind", ["files", "folders"])
def test_the_command_compares_files_and_folders(kind, tmp_path):
    put(tmp_path / "old", OLD)
    put(tmp_path / "new", NEW)
    sides = ["old", "new"] if kind == "folders" else ["old/wrangler.jsonc", "new/wrangler.jsonc"]
    done = run("diff", *sides, cwd=tmp_path)
    text = done.stdout.decode()
    assert done.returncode == 1
    assert "'orders' max_retries 5 → 7" in text
    assert "falls back to the default" in text
    assert "CFQ410" in text
    assert not done.stderr
    whole = json.loads(run("diff", *sides, "--format", "json", cwd=tmp_path).stdout)
    assert whole["version"] == 1
    assert len(whole["changes"]) == 8
    assert [f["name"] for f in whole["findings"]] == ["consumer-removed-still-attached"]


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_the_command_compares_git_revisions(tmp_path):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=N", "-c", "user.email=n@example.com", *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    put(tmp_path, OLD, "apps/api/wrangler.jsonc")
    git("add", "-A")
    git("commit", "-q", "-m", "old")
    put(tmp_path, NEW, "apps/api/wrangler.jsonc")
    git("commit", "-q", "-a", "-m", "new")
    text = run("diff", "HEAD~1", "HEAD", cwd=tmp_path).stdout.decode()
    assert "apps/api/wrangler.jsonc: top level: 'orders' max_retries 5 → 7" in text
    put(tmp_path, OLD, "apps/api/wrangler.jsonc")
    assert run("diff", "HEAD", ".", cwd=tmp_path).returncode == 1
    assert run("diff", "HEAD~1", ".", cwd=tmp_path).returncode == 0
    done = run("diff", "no-such-revision", "HEAD", cwd=tmp_path)
    assert done.returncode == 2
    assert b"no-such-revision" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_side_that_looks_like_an_option_is_not_handed_to_git(tmp_path):
    put(tmp_path, OLD)
    done = run("diff", "--", "--output=x", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert not (tmp_path / "x").exists()


def test_a_broken_side_is_passed_over_and_exit_2(tmp_path):
    put(tmp_path / "old", "{ @ }")
    put(tmp_path / "new", NEW)
    done = run("diff", "old", "new", cwd=tmp_path)
    assert done.returncode == 2
    assert b"does not parse" in done.stderr
