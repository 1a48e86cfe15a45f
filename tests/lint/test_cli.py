"""The command line, each run a process of its own in an environment that holds nothing, but where a fault must be put in."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint import __version__
from cfq_lint.cli import main
from cfq_lint.cli.options import CHECK, FLAG, LIST, parse
from cfq_lint.report import FORMATS
from cfq_lint.rules.registry import INDEX, every_rule

from .support import ROOT, findings_of, run

CLEAN = '{ "name": "a" }\n'
INFO = '{ "queues": { "producers": [{ "binding": "Q", "queue": "q" }] } }\n'
WARNING = '{ "queues": { "consumers": [{ "queue": "q" }] } }\n'
ERROR = '{ "legacy_env": true }\n'
FIXABLE = '{\n  // why\n  "queues": { "consumers": [{ "queue": "q", "max_retries": "5", "dead_letter_queue": "q-dlq" }, { "queue": "q-dlq" }] }\n}\n'
FIXED = FIXABLE.replace('"5"', "5")


@pytest.fixture
def room(tmp_path):
    (tmp_path / "wrangler.jsonc").write_text(CLEAN, encoding="utf-8")
    return tmp_path


def put(room, text, name="wrangler.jsonc"):
    file = room / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def said(done):
    """What a run printed about itself; never a traceback."""
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.stderr.decode()


# --- exit codes


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (CLEAN, None, 0), (INFO, None, 0), (WARNING, None, 1), (ERROR, None, 1), (CLEAN, "info", 0), (INFO, "info", 1), (WARNING, "info", 1),
        (WARNING, "error", 0), (ERROR, "error", 1), (INFO, "warning", 0), (ERROR, "warning", 1),
    ],
)  # fmt: skip
def test_the_exit_code_tells_findings_at_or_above_fail_on(text, fail_on, code, room):
    put(room, text)
    done = run("check", *(["--fail-on", fail_on] if fail_on else []), cwd=room)
    assert done.returncode == code
    assert not said(done)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "gone.toml"], ["gone.toml", "no such file"]),
        (["check", "--select", "max-retrys-range"], ["max-retrys-range", "did you mean 'max-retries-range'?"]),
        (["check", "--ignore", "CFQ99"], ["CFQ99"]),
        (["check", "--format", "html"], ["--format is one of text, concise,", "not 'html'"]),
        (["check", "--format", "jsn"], ["did you mean json?"]),
        (["check", "--fail-on", "fatal"], ["--fail-on is one of error, warning, info, not 'fatal'"]),
        (["check", "--plan", "gold"], ["--plan is one of free, paid, not 'gold'"]),
        (["audit", "--format", "yaml"], ["--format is one of text,", "html, not 'yaml'"]),
        (["check", "--no-such-option"], ["--no-such-option"]),
        (["check", "--fixx"], ["--fix"]),
        (["check", "--env"], ["--env"]),
        (["check", "--known-queues", "gone"], ["gone"]),
        (["check", "--output", "no/such/folder/report"], ["no/such/folder/report"]),
        (["check", "-", "wrangler.jsonc"], ["standard input"]),
        (["check", "-", "--fix"], ["standard input"]),
        (["check", "--baseline", "gone.json"], ["gone.json"]),
        (["explain", "nonsense"], ["nonsense"]),
        (["explain"], ["rule"]),
        (["schema", "nonsense"], ["nonsense"]),
        (["nonsense"], ["nonsense"]),
        (["wrangler.jsonc"], ["did you mean `cfq-lint check wrangler.jsonc`?"]),
        (["rules", "--format", "yaml"], ["--format is one of text, json, not 'yaml'"]),
        (["diff", "gone", "wrangler.jsonc"], ["gone"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_usage_is_exit_2_with_words_that_help(arguments, words, room):
    done = run(*arguments, cwd=room)
    assert done.returncode == 2
    text = said(done) + done.stdout.decode()
    for word in words:
        assert word in text
    assert len(text.splitlines()) < 20
    assert "findings" not in text  # about nothing there is nothing to report


def test_an_unreadable_path_does_not_keep_the_rest_from_being_linted(room):
    put(room, ERROR)
    done = run("check", "gone", "wrangler.jsonc", "--format", "json", cwd=room)
    assert done.returncode == 2
    assert [f["name"] for f in findings_of(done)] == ["legacy-env"]
    assert json.loads(done.stdout)["summary"]["problems"] == 1
    assert "gone" in said(done)


def test_a_folder_without_configurations_is_told_and_exits_2(tmp_path):
    (tmp_path / "empty").mkdir()
    for paths in ([], ["."], ["empty", "."]):
        done = run("check", *paths, cwd=tmp_path)
        assert done.returncode == 2
        assert f"no wrangler files in {', '.join(paths) or '.'}" in said(done)
    put(tmp_path, CLEAN)
    assert run("check", "empty", ".", cwd=tmp_path).returncode == 0
    excluded = run("check", "--exclude", "wrangler.jsonc", cwd=tmp_path)
    assert (excluded.returncode, said(excluded)) == (0, ""), "whoever excludes them knows that they are there"


def test_without_arguments_help_is_shown(tmp_path):
    done = run(cwd=tmp_path)
    assert b"check" in done.stdout + done.stderr
    assert done.returncode in {0, 2}


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["check", "--help"], ["check", "wrangler.jsonc", "-h"], ["explain", "--help"], ["rules", "-h"]])
def test_help_is_exit_0(arguments, room):
    done = run(*arguments, cwd=room)
    assert done.returncode == 0
    assert b"Usage" in done.stdout
    assert not said(done)


def test_help_names_every_option_with_its_choices_and_the_exit_codes(room):
    text = run("check", "--help", cwd=room, env={"COLUMNS": "200"}).stdout.decode()
    for option in CHECK:
        assert f"--{option.name}" in text
        assert option.help.split(".")[0][:30] in " ".join(text.split())
    assert "2 wrong usage" in run("--help", cwd=room, env={"COLUMNS": "200"}).stdout.decode()


def test_the_version(room):
    assert run("--version", cwd=room).stdout.decode().strip() == f"cfq-lint {__version__}"


# --- both ways of reading a command line

EVERYDAY = [
    [], ["a.toml"], ["--fix", "a", "b"], ["--format=json"], ["--format", "json", "x"], ["--select", "a,b", "--select=c"], ["--exclude", "a,b"],
    ["--ignore", " a , ,b"], ["--", "--fix"], ["-"], ["a", "--plan", "free", "b"], ["--env="], ["--env", "--fix"], ["--fail-on=error", "--diff"],
    ["--output", "-"], ["--statistics", "--unsafe-fixes", "--follow-redirect"], ["a", "--", "-x", "--", "b"], ["--select", ","], ["--known-queues=a=b"],
    ["--stdin-filename", "x.toml", "-"], ["--format", "text", "--format", "concise"],
]  # fmt: skip
ODD = [["--nope"], ["-x"], ["--fix=yes"], ["--format"], ["--format", "x"], ["--help"], ["-h"], ["--plan="], ["--fixx"], ["--no-fix"], ["--form", "json"]]


def by_typer(arguments, monkeypatch):
    """The values that the Typer application hands to `check`; None where it does not get there."""
    from cfq_lint.cli import app

    seen = []
    monkeypatch.setattr(app, "check", lambda values: seen.append(values) or 0)
    app.run(["check", *arguments])
    return seen[0] if seen else None


@pytest.mark.parametrize("arguments", EVERYDAY, ids=" ".join)
def test_both_ways_read_the_same_from_a_command_line(arguments, monkeypatch):
    assert parse(arguments) == by_typer(arguments, monkeypatch)
    assert parse(arguments) is not None


@pytest.mark.parametrize("arguments", ODD, ids=" ".join)
def test_what_the_quick_way_does_not_take_it_leaves_to_typer(arguments):
    assert parse(arguments) is None


tokens = st.sampled_from(
    ["a", "b/wrangler.toml", "-", "--", ",", "a,b", "text", "json", "free", "error", "", "-x", "--nope", "=", "--format=", "-h", *(f"--{option.name}" for option in CHECK),
     *(f"--{option.name}={value}" for option in CHECK for value in ("json", "free", "error", "a,b"))]
)  # fmt: skip


@settings(max_examples=150)
@given(arguments=st.lists(tokens, max_size=5))
def test_any_command_line_is_read_alike_or_left_to_typer(arguments):
    quick = parse(arguments)
    if quick is not None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdout", open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - closed below
            try:
                slow = by_typer(arguments, patch)
            finally:
                sys.stdout.close()
        assert quick == slow


def test_the_table_of_options_is_consistent():
    names = [option.name for option in CHECK]
    assert len(set(names)) == len(names)
    for option in CHECK:
        assert option.help.endswith((".", "]"))
        assert (option.kind == FLAG) == (option.metavar == "")
        assert not option.commas or option.kind == LIST
        assert option.default is None or option.default in option.choices
    contract = {
        "format", "output", "env", "plan", "select", "ignore", "exclude", "fail-on", "fix", "unsafe-fixes", "diff", "known-queues", "facts",
        "follow-redirect", "stdin-filename", "statistics", "no-run",
    }  # fmt: skip
    assert contract <= set(names)


@pytest.mark.parametrize("arguments", [["check", "wrangler.jsonc"], ["check", "wrangler.jsonc", "--format", "json", "--fail-on=info"]])
def test_both_ways_print_the_same_and_end_alike(arguments, room):
    put(room, WARNING)
    quick = run(*arguments, cwd=room)
    code = f"import sys; from cfq_lint.cli.app import run; sys.exit(run({arguments!r}))"
    slow = subprocess.run([sys.executable, "-c", code], cwd=room, capture_output=True, check=False, env={"COLUMNS": "100", "PATH": ""})
    assert (quick.returncode, quick.stdout, quick.stderr) == (slow.returncode, slow.stdout, slow.stderr)


def test_the_console_script_and_the_module_are_the_same(room):
    script = shutil.which("cfq-lint", path=os.path.dirname(sys.executable))
    assert script, "the distribution is installed with its script"
    done = subprocess.run([script, "check", "."], cwd=room, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, run("check", ".", cwd=room).stdout)


# --- what a clean run loads

HEAVY = {"rich", "pydantic", "httpx", "jsonschema", "json5", "asyncio", "typer", "click", "dataclasses", "typing", "json", "pathlib", "inspect", "argparse",
         "multiprocessing", "subprocess", "tomllib", "pathspec", "textwrap", "tempfile", "importlib.metadata", "logging", "socket", "urllib"}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [("wrangler.jsonc", CLEAN), ("wrangler.toml", 'name = "a"\n'), ("wrangler.json", FIXED)])
def test_after_linting_a_clean_file_nothing_heavy_is_loaded(name, text, tmp_path):
    put(tmp_path, text, name)
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom cfq_lint.cli import main\n"
        f"code = main(['check', {name!r}])\nprint(code, *sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT), "COLUMNS": "80"})
    code, *loaded = done.stderr.split()
    assert code == "0", done.stdout
    assert not HEAVY & {name.split(".")[0] for name in loaded} | (HEAVY & set(loaded))
    assert len([each for each in loaded if each.startswith("cfq_lint.rules.cfq")]) <= 5


# --- where a report goes


def test_output_writes_a_whole_file_and_leaves_no_draft(room):
    put(room, ERROR)
    done = run("check", "--format", "json", "--output", "report.json", cwd=room)
    assert done.returncode == 1
    assert not done.stdout
    assert json.loads((room / "report.json").read_text(encoding="utf-8"))["summary"]["errors"] == 1
    assert sorted(path.name for path in room.iterdir()) == ["report.json", "wrangler.jsonc"]
    assert stat.S_IMODE((room / "report.json").stat().st_mode) & 0o444 == 0o444


def test_output_replaces_an_older_report_and_holds_no_colour(room):
    put(room, ERROR)
    (room / "report.txt").write_text("old", encoding="utf-8")
    run("check", "--output", "report.txt", cwd=room, env={"FORCE_COLOR": "1"})
    text = (room / "report.txt").read_text(encoding="utf-8")
    assert "legacy-env" in text
    assert "\x1b" not in text
    assert "old" not in text


def test_a_report_that_cannot_be_written_leaves_the_old_one(room, monkeypatch):
    put(room, ERROR)
    (room / "report.txt").write_text("old", encoding="utf-8")
    monkeypatch.chdir(room)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert main(["check", "--output", "report.txt"]) == 2
    assert (room / "report.txt").read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in room.iterdir()) == ["report.txt", "wrangler.jsonc"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_output_to_a_pipe_or_a_link_writes_there_and_replaces_neither(room):
    put(room, ERROR)
    os.mkfifo(room / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], cwd=room, stdout=subprocess.PIPE)
    assert run("check", "--format", "concise", "--output", "pipe", "wrangler.jsonc", cwd=room).returncode == 1
    assert b"legacy-env" in reader.communicate(timeout=20)[0]
    assert stat.S_ISFIFO((room / "pipe").stat().st_mode)
    (room / "report.txt").write_text("old", encoding="utf-8")
    (room / "link.txt").symlink_to("report.txt")
    run("check", "--format", "concise", "--output", "link.txt", "wrangler.jsonc", cwd=room)
    assert (room / "link.txt").is_symlink()
    assert "legacy-env" in (room / "report.txt").read_text(encoding="utf-8")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["check"], ["check", "--format", "json"], ["rules"], ["limits"], ["check", "--diff"]])
def test_an_output_that_cannot_be_written_is_one_line_and_exit_2(arguments, room):
    put(room, FIXABLE)
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-m", "cfq_lint", *arguments], cwd=room, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert said(done) == "cfq-lint: the output: No space left on device\n"


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are no UTF-8")
@pytest.mark.parametrize("name", FORMATS)
def test_names_that_are_no_utf_8_can_be_shown_in_every_format(name, tmp_path):
    os.makedirs(os.fsencode(tmp_path) + b"/d\xff\n%")
    with open(os.fsencode(tmp_path) + b"/d\xff\n%/wrangler.toml", "wb") as file:
        file.write(b"legacy_env = 1\n")
    done = run("check", "--format", name, cwd=tmp_path)
    assert done.returncode == 1
    assert not said(done)
    assert b"legacy" in done.stdout
    if name in {"json", "sarif", "gitlab"}:
        json.loads(done.stdout)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_be_chosen(name, room):
    put(room, ERROR)
    done = run("check", "--format", name, cwd=room)
    assert done.returncode == 1
    assert b"legacy" in done.stdout
    assert not said(done)


@pytest.mark.parametrize(
    ("env", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False), ({"NO_COLOR": "", "FORCE_COLOR": "1"}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_goes_by_terminal_and_environment(env, coloured, room):
    put(room, ERROR)
    assert (b"\x1b[" in run("check", cwd=room, env=env).stdout) == coloured


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("env", "coloured"), [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colour(env, coloured, room):
    import pty

    put(room, ERROR)
    leader, follower = pty.openpty()
    process = subprocess.Popen([sys.executable, "-m", "cfq_lint", "check"], cwd=room, stdout=follower, stderr=follower, env=env, close_fds=True)
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    assert process.wait() == 1
    assert (b"\x1b[" in shown) == coloured
    assert b"legacy-env" in shown


def test_machine_formats_are_never_coloured(room):
    put(room, ERROR)
    for name in set(FORMATS) - {"text", "concise"}:
        assert b"\x1b" not in run("check", "--format", name, cwd=room, env={"FORCE_COLOR": "1"}).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("command", ["check . --format concise", "check . --format json", "rules", "limits"])
def test_a_reader_that_goes_away_is_no_traceback(command, room):
    for number in range(300):
        put(room, ERROR, f"a{number}/wrangler.jsonc")
    done = subprocess.run(
        f"{sys.executable} -m cfq_lint {command} | head -1", shell=True, cwd=room, capture_output=True, check=False, env={"PATH": os.environ["PATH"]}
    )
    assert done.stdout.count(b"\n") == 1
    assert not done.stderr


def test_an_ascii_terminal_shows_what_it_cannot_write_escaped(room):
    put(room, '{ "queues": { "consumers": [{ "queue": "日本", "dead_letter_queue": "x" }, { "queue": "x" }] } }')
    done = run("check", cwd=room, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert done.returncode == 1
    assert b"\\u65e5\\u672c" in done.stdout
    assert not said(done)


@pytest.mark.parametrize("columns", ["40", "200", "0", "x"])
def test_the_width_is_that_of_the_terminal(columns, room):
    put(room, WARNING)
    done = run("check", cwd=room, env={"COLUMNS": columns})
    assert done.returncode == 1
    assert not said(done)
    if columns == "40":
        assert max(len(line) for line in done.stdout.decode().splitlines() if "http" not in line and not line.startswith("wrangler")) <= 80


# --- options


def test_statistics_count_the_findings_of_each_rule(room):
    put(room, '{ "queues": { "consumers": [{ "queue": "a" }, { "queue": "b" }] }, "legacy_env": 1 }')
    done = run("check", "--statistics", cwd=room)
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    assert rows[0] == ["2", "CFQ301", "warning", "consumer-without-dlq"]
    assert rows[1] == ["1", "CFQ605", "error", "legacy-env"]
    assert rows[-1][:2] == ["1", "error,"]
    assert done.returncode == 1


def test_select_ignore_and_their_commas(room):
    put(room, '{ "queues": { "consumers": [{ "queue": "a", "max_retries": 500, "max_batch_size": 500 }] }, "legacy_env": 1 }')

    def names(*arguments):
        return {f["name"] for f in findings_of(run("check", "--format", "json", *arguments, cwd=room))}

    assert names("--select", "CFQ2") == {"max-retries-range", "max-batch-size-range"}
    assert names("--select", "CFQ2,legacy-env", "--ignore", "CFQ203") == {"max-batch-size-range", "legacy-env"}
    assert names("--select=cfq203") == {"max-retries-range"}
    assert names("--ignore", "CFQ2", "--ignore", "CFQ3,CFQ4") == {"legacy-env"}
    assert names("--select", "all") >= {"legacy-env", "consumer-without-dlq", "queue-without-producer"}


def test_env_looks_at_one_environment(room):
    put(room, '{ "queues": { "consumers": [{ "queue": "a", "max_retries": 500 }] }, "env": { "dev": { "queues": { "consumers": [{ "queue": "b", "max_batch_size": 500 }] } } } }')
    ranges = ["--select", "CFQ2", "--format", "json"]
    assert {f["name"] for f in findings_of(run("check", *ranges, cwd=room))} == {"max-retries-range", "max-batch-size-range"}
    [finding] = findings_of(run("check", "--env", "dev", *ranges, cwd=room))
    assert (finding["name"], finding["environment"]) == ("max-batch-size-range", "dev")
    [finding] = findings_of(run("check", "--env", "nowhere", *ranges, cwd=room))
    assert (finding["name"], finding["environment"]) == ("max-retries-range", None)
    assert "env-missing-in-file" in {f["name"] for f in findings_of(run("check", "--env", "nowhere", "--format", "json", cwd=room))}


def test_plan_is_a_fact(room):
    put(room, '{ "limits": { "cpu_ms": 50 }, "queues": { "consumers": [{ "queue": "a", "dead_letter_queue": "b" }] } }')
    assert run("check", cwd=room).returncode == 0
    done = run("check", "--plan", "free", "--format", "json", cwd=room)
    assert done.returncode == 1
    assert "cpu-limit-range" in {f["name"] for f in findings_of(done)}
    assert any("1 day" in f["message"] for f in findings_of(done))


def test_exclude_passes_files_over(room):
    put(room, ERROR, "dist/wrangler.json")
    put(room, ERROR, "apps/old/wrangler.toml")
    assert run("check", cwd=room).returncode == 1
    done = run("check", "--exclude", "dist/", "--exclude", "apps/old", "--format", "json", cwd=room)
    assert done.returncode == 0
    assert json.loads(done.stdout)["summary"]["files"] == 1


@pytest.mark.parametrize(
    "text",
    ["q\nq-dlq\n", "# queues\r\nq\r\n\r\nq-dlq", '["q", "q-dlq"]', '[{"queue_name": "q"}, {"queue_name": "q-dlq"}]', "\ufeffq\nq-dlq"],
)
def test_known_queues_are_lines_or_a_json_list(text, room):
    put(room, FIXED)
    put(room, text, "queues.txt")
    done = run("check", "--known-queues", "queues.txt", "--format", "json", cwd=room)
    assert "queue-not-provisioned" not in {f["name"] for f in findings_of(done)}
    put(room, "other\n", "queues.txt")
    done = run("check", "--known-queues", "queues.txt", "--format", "json", cwd=room)
    assert "queue-not-provisioned" in {f["name"] for f in findings_of(done)}


@pytest.mark.parametrize("text", ["[", '["a", 5]', "[{}]", b"\xff\xfe"])
def test_known_queues_that_are_none_are_exit_2(text, room):
    put(room, text, "queues.txt")
    done = run("check", "--known-queues", "queues.txt", cwd=room)
    assert done.returncode == 2
    assert "queues.txt" in said(done)


def test_standard_input_is_linted_under_its_name(room):
    done = run("check", "-", "--stdin-filename", "apps/wrangler.toml", "--format", "concise", cwd=room, stdin=b"legacy_env = 1\n")
    assert done.stdout.startswith(b"apps/wrangler.toml:1:1: error CFQ605 legacy-env: ")
    assert done.returncode == 1
    done = run("check", "-", cwd=room, stdin=CLEAN.encode())
    assert done.returncode == 0
    done = run("check", "-", "--format", "json", cwd=room, stdin="\ufeff{}".encode("utf-16"))
    assert [f["name"] for f in findings_of(done)] == ["wrong-encoding"]


# --- repairs


def test_fix_repairs_in_place_says_so_and_is_clean(room):
    put(room, FIXABLE)
    done = run("check", "--fix", cwd=room)
    assert done.returncode == 0
    assert said(done) == "cfq-lint: fixed 1 in 1 file\n"
    assert (room / "wrangler.jsonc").read_text(encoding="utf-8") == FIXED
    assert not said(run("check", "--fix", cwd=room))
    assert [path.name for path in room.iterdir()] == ["wrangler.jsonc"]


def test_fix_leaves_unsafe_repairs_alone_and_unsafe_fixes_does_them(room):
    text = FIXED.replace('"max_retries": 5', '"max_retries": 500')
    put(room, text)
    assert run("check", "--fix", cwd=room).returncode == 1
    assert (room / "wrangler.jsonc").read_text(encoding="utf-8") == text
    run("check", "--unsafe-fixes", cwd=room)
    assert '"max_retries": 100' in (room / "wrangler.jsonc").read_text(encoding="utf-8")


def test_a_clean_file_is_not_touched(room):
    before = (room / "wrangler.jsonc").stat()
    time.sleep(0.01)
    run("check", "--fix", "--unsafe-fixes", cwd=room)
    after = (room / "wrangler.jsonc").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_diff_shows_a_patch_and_writes_nothing(room):
    put(room, FIXABLE)
    done = run("check", "--diff", cwd=room)
    assert done.returncode == 1
    assert (room / "wrangler.jsonc").read_text(encoding="utf-8") == FIXABLE
    assert done.stdout.startswith(b"--- a/wrangler.jsonc\n+++ b/wrangler.jsonc\n@@")
    assert b"\x1b" not in done.stdout


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
@pytest.mark.parametrize("text", [FIXABLE, FIXABLE.rstrip("\n"), FIXABLE.replace("\n", "\r\n"), "\ufeff" + FIXABLE])
def test_the_diff_is_a_patch_that_git_applies(text, room):
    put(room, text)
    done = run("check", "--diff", "--unsafe-fixes", cwd=room)
    (room / "fix.patch").write_bytes(done.stdout)
    subprocess.run(["git", "init", "-q", "."], cwd=room, check=True)
    applied = subprocess.run(["git", "apply", "--whitespace=nowarn", "fix.patch"], cwd=room, capture_output=True, text=True, check=False)
    assert applied.returncode == 0, applied.stderr
    by_patch = (room / "wrangler.jsonc").read_bytes()
    put(room, text)
    run("check", "--unsafe-fixes", cwd=room)
    assert (room / "wrangler.jsonc").read_bytes() == by_patch


def test_the_mode_of_a_repaired_file_is_kept_and_a_link_stays_a_link(room):
    put(room, FIXABLE, "real.jsonc")
    (room / "real.jsonc").chmod(0o640)
    (room / "wrangler.jsonc").unlink()
    (room / "wrangler.jsonc").symlink_to("real.jsonc")
    assert run("check", "--fix", "wrangler.jsonc", cwd=room).returncode == 0
    assert (room / "wrangler.jsonc").is_symlink()
    assert (room / "real.jsonc").read_text(encoding="utf-8") == FIXED
    assert stat.S_IMODE((room / "real.jsonc").stat().st_mode) == 0o640


def test_a_file_that_changed_meanwhile_is_not_overwritten(room, monkeypatch, capsys):
    from cfq_lint.run import repair

    put(room, FIXABLE)
    monkeypatch.chdir(room)
    original = repair.repair

    def somebody_saves(*arguments, **options):
        made = original(*arguments, **options)
        put(room, FIXABLE + "// mine\n")
        return made

    monkeypatch.setattr(repair, "repair", somebody_saves)
    assert main(["check", "--fix"]) == 2
    assert (room / "wrangler.jsonc").read_text(encoding="utf-8") == FIXABLE + "// mine\n"
    assert "changed on disk" in capsys.readouterr().err


def test_a_repair_that_cannot_be_written_leaves_the_file_whole(room, monkeypatch, capsys):
    put(room, FIXABLE)
    monkeypatch.chdir(room)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert main(["check", "--fix"]) == 2
    assert (room / "wrangler.jsonc").read_text(encoding="utf-8") == FIXABLE
    assert [path.name for path in room.iterdir()] == ["wrangler.jsonc"]
    assert "No space left" in capsys.readouterr().err


def test_fixes_that_never_settle_fail_loudly_and_write_nothing(room, monkeypatch, capsys, change_rule):
    from cfq_lint.model.finding import Edit, Fix

    def check(worker, _facts):
        field = worker.fields["legacy_env"]
        fix = Fix("for ever", (Edit(field.place, str((field.integer or 0) + 1)),), safe=True)
        yield rule.finding(field.key_place, "this finding comes back after every repair", fix=fix)

    put(room, '{ "legacy_env": 1 }')
    monkeypatch.chdir(room)
    rule = change_rule("legacy-env", check=check)
    assert main(["check", "--fix"]) == 2
    assert "did not settle" in capsys.readouterr().err
    assert (room / "wrangler.jsonc").read_text(encoding="utf-8") == '{ "legacy_env": 1 }'


def test_a_fix_that_breaks_the_syntax_is_not_written(room, monkeypatch, capsys, change_rule):
    from cfq_lint.model.finding import Edit, Fix

    def check(worker, _facts):
        field = worker.fields["legacy_env"]
        yield rule.finding(field.key_place, "the repair of this is broken", fix=Fix("x", (Edit(field.place, "{"),), safe=True))

    put(room, '{ "legacy_env": 1 }')
    monkeypatch.chdir(room)
    rule = change_rule("legacy-env", check=check)
    assert main(["check", "--fix"]) == 2
    assert "broke the file's syntax" in capsys.readouterr().err
    assert (room / "wrangler.jsonc").read_text(encoding="utf-8") == '{ "legacy_env": 1 }'


def test_fix_and_json_go_together(room):
    put(room, FIXABLE)
    done = run("check", "--fix", "--format", "json", cwd=room)
    assert json.loads(done.stdout)["summary"]["errors"] == 0


# --- a rule that fails


def test_a_rule_that_crashes_is_a_finding_about_the_linter_and_exit_2(room, monkeypatch, capsys, change_rule):
    put(room, ERROR)
    monkeypatch.chdir(room)
    change_rule("legacy-env", check=lambda *_: 1 / 0)
    assert main(["check", "--format", "json"]) == 2
    [finding] = json.loads(capsys.readouterr().out)["findings"]
    assert (finding["code"], finding["name"], finding["severity"]) == ("CFQ000", "internal-error", "error")
    assert "legacy-env" in finding["message"]
    assert "ZeroDivisionError" in finding["message"]


def test_a_rule_about_the_project_that_crashes_is_one_too(room, monkeypatch, capsys, change_rule):
    put(room, WARNING)
    monkeypatch.chdir(room)
    change_rule("consumer-without-dlq", check=lambda *_: [].pop())
    assert main(["check", "--format", "concise"]) == 2
    assert "CFQ000 internal-error" in capsys.readouterr().out


def test_a_fault_of_the_linter_itself_exits_with_2_and_says_so(room, monkeypatch, capsys):
    from cfq_lint.run import engine

    put(room, ERROR)
    monkeypatch.chdir(room)
    monkeypatch.setattr(engine, "signs_of", lambda _: [].pop())
    assert main(["check"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("cfq-lint: this is a fault of cfq-lint, please report it")
    assert "IndexError: pop from empty list" in said


def test_the_other_rules_go_on_after_a_crash(room, monkeypatch, capsys, change_rule):
    put(room, '{ "legacy_env": 1, "queues": { "consumers": [{ "queue": "q", "max_retries": 500 }] } }')
    monkeypatch.chdir(room)
    change_rule("legacy-env", check=lambda *_: 1 / 0)
    assert main(["check", "--format", "json"]) == 2
    assert {"internal-error", "max-retries-range"} <= {f["name"] for f in json.loads(capsys.readouterr().out)["findings"]}


# --- the other commands


def test_rules_lists_every_rule_by_family(room):
    text = run("rules", cwd=room).stdout.decode()
    for rule in every_rule():
        [line] = [line for line in text.splitlines() if line.strip().startswith(f"{rule.code} ")]
        assert rule.name in line
        assert rule.severity.value in line
        assert ("(off)" in line) == (not rule.default)


def test_rules_as_json(room):
    whole = json.loads(run("rules", "--format", "json", cwd=room).stdout)
    assert whole["version"] == 1
    assert len(whole["rules"]) == len(INDEX)
    assert {"code", "name", "severity", "fix", "summary", "url", "checked"} <= whole["rules"][0].keys()


@pytest.mark.parametrize("key", ["max-retries-range", "CFQ203", "cfq203"])
def test_explain_gives_what_why_right_and_the_limit_with_page_and_day(key, room):
    text = run("explain", key, cwd=room).stdout.decode()
    for word in ("CFQ203 max-retries-range", "## What it does", "## Why it matters", "## Bad", "## Good", "max_retries_max", "100"):
        assert word in text
    assert "https://developers.cloudflare.com/queues/platform/limits/" in text
    assert "checked 20" in text


def test_explain_of_a_family_explains_all_of_it(room):
    text = run("explain", "CFQ2", cwd=room).stdout.decode()
    assert all(rule.name in text for rule in every_rule() if rule.code.startswith("CFQ2"))


def test_explain_of_a_typo_suggests(room):
    assert "did you mean" in said(run("explain", "max-retries-rang", cwd=room))


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: rule.name)
def test_every_rule_can_be_explained(rule, capsys):
    assert main(["explain", rule.name]) == 0
    text = capsys.readouterr().out
    assert rule.code in text
    assert not rule.source or f"{rule.source} (checked {rule.checked})" in text


# --- many files


def test_several_processes_say_what_one_says(tmp_path, monkeypatch):
    from cfq_lint import lint_paths
    from cfq_lint.run import lint as running

    for number in range(40):
        put(tmp_path, ERROR if number % 3 else WARNING.replace('"q"', f'"q{number}"'), f"a{number}/wrangler.jsonc")
    put(tmp_path, b"\xff", "odd/wrangler.toml")
    monkeypatch.setattr(running, "FILES_PER_PROCESS_MIN", 10)
    one = lint_paths([str(tmp_path)], jobs=1)
    two = lint_paths([str(tmp_path)], jobs=2)
    assert one == two
    assert len(one.files) == 41


@pytest.mark.parametrize("command", ["rules", "limits", "audit", "explain", "schema", "diff", "check"])
def test_a_folder_of_that_name_does_not_hide_a_command(command, room):
    (room / command).mkdir()
    arguments = {"explain": ["CFQ001"], "schema": ["limits"], "diff": [".", "."]}.get(command, [])
    done = run(command, *arguments, cwd=room)
    assert done.returncode == 0, said(done)
    assert "no command" not in said(done)


def test_explain_lists_the_rules_that_a_word_means(room):
    done = run("explain", "dlq", cwd=room)
    assert done.returncode == 0
    listed = done.stdout.decode()
    assert all(rule.name in listed for rule in every_rule() if "dlq" in rule.name)
    assert "max-retries-range" not in listed
    assert "6 dead and deprecated" not in listed
    assert run("explain", "dead letter", cwd=room).stdout == run("explain", "dead-letter", cwd=room).stdout


def test_a_fix_that_brings_a_new_finding_says_so(room):
    put(room, '{ "queues": { "consumers": [{ "queue": "q" }] } }\n')
    told = "a new finding: wrangler.jsonc:1: info CFQ304 dlq-no-consumer"
    shown = run("check", "--unsafe-fixes", "--diff", cwd=room)
    assert f"the fixes would bring {told}" in said(shown)
    done = run("check", "--unsafe-fixes", cwd=room)
    assert f"the fixes brought {told}" in said(done)
    put(room, FIXABLE)
    assert "new finding" not in said(run("check", "--fix", cwd=room))
