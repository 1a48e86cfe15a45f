"""Settings: where they are found, what they say, and what is said of wrong ones."""

from __future__ import annotations

import json

import pytest

from cfq_lint import WrongSettings, lint_paths

from .support import run

CONFIG = '{ "queues": { "consumers": [{ "queue": "a", "dead_letter_queue": "a-dlq", "max_batch_size": 500 }, { "queue": "a-dlq" }] } }'


def write(folder, settings, name="pyproject.toml"):
    (folder / "wrangler.jsonc").write_text(CONFIG, encoding="utf-8")
    head = "" if name == "cfq-lint.toml" else "[tool.cfq-lint]\n"
    (folder / name).write_text(head + settings, encoding="utf-8")


def names(folder, **options):
    return {f.name for f in lint_paths([str(folder)], **options).findings}


@pytest.mark.parametrize("file", ["pyproject.toml", "cfq-lint.toml"])
@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ("", {"max-batch-size-range"}),
        ('ignore = ["CFQ201"]', set()),
        ('ignore = ["max-batch-size-range"]', set()),
        ('ignore = ["CFQ2"]', set()),
        ('select = ["CFQ301"]', set()),
        ('select = ["all"]\nignore = ["CFQ3", "CFQ4"]', {"max-batch-size-range"}),
        ('exclude = ["wrangler.jsonc"]', set()),
    ],
)
def test_settings_of_both_files_choose_rules_and_files(file, settings, left, tmp_path):
    write(tmp_path, settings, file)
    assert {name for name in names(tmp_path) if name != "max-retries-implicit"} == left


def test_options_win_over_settings(tmp_path):
    write(tmp_path, 'select = ["CFQ301"]\nplan = "paid"')
    assert names(tmp_path, select=["CFQ201"]) == {"max-batch-size-range"}


def test_the_plan_is_a_setting(tmp_path):
    write(tmp_path, 'plan = "free"')
    (tmp_path / "wrangler.jsonc").write_text('{ "limits": { "cpu_ms": 5 }, "queues": { "consumers": [{ "queue": "a" }] } }', encoding="utf-8")
    assert "cpu-limit-range" in names(tmp_path)
    assert "cpu-limit-range" not in names(tmp_path, plan="paid")


def test_facts_about_queues_can_be_declared(tmp_path):
    write(tmp_path, '[tool.cfq-lint.queues.a]\njurisdiction = "eu"\nmessage_retention_period = 60\ndelivery_delay = 5\n[tool.cfq-lint.queues."a-dlq"]\njurisdiction = "us"\n')
    (tmp_path / "wrangler.jsonc").write_text(CONFIG.replace("500", "50").replace('"max_batch_size"', '"retry_delay"'), encoding="utf-8")
    report = lint_paths([str(tmp_path)])
    said = {f.name: f.message for f in report.findings}
    assert "dlq-jurisdiction-mismatch" in said
    assert "retries-exceed-retention" in said
    assert "60 s" in said["retries-exceed-retention"]
    assert "declared" in said["retries-exceed-retention"]


def test_known_queues_are_a_setting(tmp_path):
    write(tmp_path, 'known-queues = ["b"]')
    assert "queue-not-provisioned" in names(tmp_path)
    assert "queue-not-provisioned" not in names(tmp_path, known_queues=["a", "a-dlq"])


def test_fail_on_is_a_setting_and_an_option(tmp_path):
    write(tmp_path, 'fail-on = "error"\nignore = ["CFQ2"]')
    (tmp_path / "wrangler.jsonc").write_text('{ "queues": { "consumers": [{ "queue": "a" }] } }', encoding="utf-8")
    assert run("check", ".", cwd=tmp_path).returncode == 0
    assert run("check", "--fail-on", "warning", ".", cwd=tmp_path).returncode == 1


def test_rules_can_be_left_out_for_some_paths(tmp_path):
    write(tmp_path, '[tool.cfq-lint.per-path-ignores]\n"legacy/**" = ["CFQ201"]\n')
    (tmp_path / "legacy").mkdir()
    (tmp_path / "legacy" / "wrangler.toml").write_text('[[queues.consumers]]\nqueue = "b"\nmax_batch_size = 500\n', encoding="utf-8")
    report = lint_paths([str(tmp_path)])
    paths = [f.path.rsplit("/", 1)[-1] for f in report.findings if f.name == "max-batch-size-range"]
    assert paths == ["wrangler.jsonc"]
    assert len([f for f in report.suppressed if f.name == "max-batch-size-range"]) == 1


def test_the_nearest_file_above_counts_and_cfq_lint_toml_beats_pyproject(tmp_path):
    write(tmp_path, 'ignore = ["CFQ201"]')
    (tmp_path / "apps" / "api").mkdir(parents=True)
    (tmp_path / "apps" / "api" / "wrangler.jsonc").write_text(CONFIG, encoding="utf-8")
    assert "max-batch-size-range" not in names(tmp_path / "apps")
    (tmp_path / "apps" / "cfq-lint.toml").write_text("", encoding="utf-8")
    assert "max-batch-size-range" in names(tmp_path / "apps")
    (tmp_path / "apps" / "cfq-lint.toml").unlink()
    write(tmp_path, "", "cfq-lint.toml")
    assert "max-batch-size-range" in names(tmp_path)


def test_a_pyproject_without_our_table_is_passed_over(tmp_path):
    write(tmp_path, 'ignore = ["CFQ201"]')
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "wrangler.toml").write_text('[[queues.consumers]]\nqueue = "b"\nmax_batch_size = 500\n', encoding="utf-8")
    (tmp_path / "apps" / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["cfq-lint"]\n', encoding="utf-8")
    assert "max-batch-size-range" not in names(tmp_path / "apps")


def test_settings_do_not_depend_on_the_working_directory(tmp_path, monkeypatch):
    write(tmp_path, 'ignore = ["CFQ201"]\nexclude = ["/x"]')
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "wrangler.toml").write_text("legacy_env = 1\n", encoding="utf-8")
    here = names(tmp_path)
    monkeypatch.chdir(tmp_path / "x")
    assert names("..") == here == names(tmp_path)


@pytest.mark.parametrize(
    ("settings", "place", "said"),
    [
        ('igonre = ["x"]', "pyproject.toml:2:1", "did you mean 'ignore'?"),
        ("\nplan = 'gold'", "pyproject.toml:3:1", "plan"),
        ("  ignore = 'CFQ201'", "pyproject.toml:2:3", "ignore"),
        ("ignore = ['a', 5]", "pyproject.toml:2:1", "ignore.1"),
        ("fail-on = 'fatal'", "pyproject.toml:2:1", "fail-on"),
        ("fail_on = 'error'", "pyproject.toml:2:1", "did you mean 'fail-on'?"),
        ("[tool.cfq-lint.queues.a]\njurisdicton = 'eu'", "pyproject.toml:3:1", "did you mean 'jurisdiction'?"),
        ("[tool.cfq-lint.queues.a]\nmessage_retention_period = '60'", "pyproject.toml:3:1", "message_retention_period"),
        ("[tool.cfq-lint.queues.a]\ndelivery_delay = -1", "pyproject.toml:3:1", "delivery_delay"),
        ("queues = 5", "pyproject.toml:2:1", "queues"),
        ("xyz = 1", "pyproject.toml:2:1", "known are"),
    ],
)
def test_a_wrong_setting_is_one_clear_line_with_its_place(settings, place, said, tmp_path):
    write(tmp_path, settings)
    with pytest.raises(WrongSettings) as refused:
        lint_paths([str(tmp_path)])
    [line] = str(refused.value).splitlines()
    assert place in line
    assert said in line


def test_all_mistakes_are_said_at_once(tmp_path):
    write(tmp_path, "plan = 'gold'\nigonre = []\nfail-on = 5\n")
    with pytest.raises(WrongSettings) as refused:
        lint_paths([str(tmp_path)])
    assert len(str(refused.value).splitlines()) == 3


def test_a_settings_file_that_is_no_toml_is_said_with_its_place(tmp_path):
    write(tmp_path, "plan = \n")
    with pytest.raises(WrongSettings, match=r"pyproject\.toml:2:"):
        lint_paths([str(tmp_path)])


def test_a_settings_file_in_utf_16_is_refused(tmp_path):
    write(tmp_path, "")
    (tmp_path / "cfq-lint.toml").write_bytes("\ufeffplan = 'free'".encode("utf-16-le"))
    with pytest.raises(WrongSettings, match="UTF-16"):
        lint_paths([str(tmp_path)])


def test_an_unknown_rule_in_the_settings_is_exit_2_with_a_suggestion(tmp_path):
    write(tmp_path, 'ignore = ["max-batch-siz-range"]')
    done = run("check", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert b"did you mean 'max-batch-size-range'?" in done.stderr


def test_wrong_settings_are_exit_2_without_a_traceback(tmp_path):
    write(tmp_path, 'igonre = ["x"]')
    done = run("check", ".", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode().count("\n") == 1
    assert b"Traceback" not in done.stderr
    assert not done.stdout


def test_settings_hold_for_standard_input_as_well(tmp_path):
    write(tmp_path, 'ignore = ["CFQ201"]')
    done = run("check", "-", "--stdin-filename", "wrangler.jsonc", "--format", "json", cwd=tmp_path, stdin=CONFIG.encode())
    assert "max-batch-size-range" not in {f["name"] for f in json.loads(done.stdout)["findings"]}


# --- a snapshot of the account


SNAPSHOT = {
    "version": 1,
    "plan": "paid",
    "queues": {
        "a": {"message_retention_period": 60, "jurisdiction": "eu", "consumers": [{"type": "worker", "script_name": "shop"}]},
        "a-dlq": {"consumers": []},
    },
}


def test_a_snapshot_gives_facts_and_findings_say_so(tmp_path):
    (tmp_path / "wrangler.jsonc").write_text(
        '{ "queues": { "consumers": [{ "queue": "a", "dead_letter_queue": "a-dlq", "retry_delay": 50 }, { "queue": "b", "dead_letter_queue": "a-dlq" }] } }',
        encoding="utf-8",
    )
    (tmp_path / "account.json").write_text(json.dumps(SNAPSHOT), encoding="utf-8")
    done = run("check", "--facts", "account.json", "--format", "json", ".", cwd=tmp_path)
    said = {f["name"]: f for f in json.loads(done.stdout)["findings"]}
    assert said["queue-not-provisioned"]["severity"] == "error"
    assert "'b'" in said["queue-not-provisioned"]["message"]
    assert "account.json" in said["retries-exceed-retention"]["message"]
    assert "account.json" in said["dlq-jurisdiction-mismatch"]["message"]
    assert said["dlq-no-consumer"]["severity"] == "warning"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "account.json"),
        ("{", "account.json"),
        ('{"version": 2}', "version"),
        ('{"queues": []}', "queues"),
        ('{"queues": {"a": {"retention": 5}}}', "queues.a.retention"),
        ('{"plan": "gold"}', "plan"),
    ],
)
def test_a_wrong_snapshot_is_exit_2_with_a_line(text, said, tmp_path):
    (tmp_path / "wrangler.jsonc").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "account.json").write_text(text, encoding="utf-8")
    done = run("check", "--facts", "account.json", cwd=tmp_path)
    assert done.returncode == 2
    assert said.encode() in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_snapshot_that_is_not_there_is_exit_2(tmp_path):
    done = run("check", "--facts", "gone.json", cwd=tmp_path)
    assert done.returncode == 2
    assert b"gone.json" in done.stderr
