"""The marker of pytest, and the command line."""

from __future__ import annotations

import json
import sys

import pytest

from emulator.cli import main
from tests.emulator.helpers import plugin_options

pytest_plugins = ["pytester"]

WORLD = """
def payments(emu):
    charges = []

    def handle(batch):
        for message in batch.messages:
            charges.append(message.body)
            message.ack()

    queue = emu.create_queue("payments")
    emu.consume("payments", handle, max_batch_timeout=0, retry_delay=10)
    queue.send("order-7")
    return charges


def paid(emu):
    payments(emu)
    emu.run_until_idle()


def broken(emu):
    emu.queue("nowhere")


def invariant(charges):
    assert len(charges) <= 1, "charged again"
"""


@pytest.fixture
def world(tmp_path, monkeypatch):
    (tmp_path / "world.py").write_text(WORLD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("world", None)
    sys.path[:] = [path for path in sys.path if path != str(tmp_path)]


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr("emulator.pool.cluster._WAIT_SECONDS", 0.5)


def test_the_command_line_tells_the_story(world, capsys):
    assert main(["explore", "world:payments", "--html", "page.html", "--test", "test_found.py"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("AssertionError: charged again\nbroken with one fault")
    assert "2. the Worker dies after its last statement, before the queue hears of it\n3. 10 seconds later order-7 comes again" in said
    assert "crashes_at_end: 1 choices" in said
    assert "<svg" in (world / "page.html").read_text(encoding="utf-8")
    assert "from world import payments" in (world / "test_found.py").read_text(encoding="utf-8")


@pytest.mark.usefixtures("world")
def test_the_command_line_says_that_nothing_breaks(capsys):
    assert main(["explore", "world.py:payments", "--invariant", "no_message_lost", "--max-faults", "1", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["found"], told["exhaustive"], told["covered"]["deviations"]) == (False, True, 1)


@pytest.mark.parametrize(("arguments", "code", "said"), [
    (["world:payments", "--invariant", "at_most_once=send"], 0, ""),
    (["world:payments", "--replay", "3:1"], 1, "replay='3:1'"),
    (["world:paid", "--invariant", "converges=5"], 1, "seconds after the last fault"),
    (["world"], 2, "expected MODULE:FUNCTION"),
    (["world:nobody"], 2, "has no function 'nobody' (there are: broken, invariant, paid, payments)"),
    (["world:broken"], 2, "cannot make its world"),
    (["nowhere.py:payments"], 2, "there is no file"),
    (["no_such_module:payments"], 2, "no_such_module"),
    (["world:payments", "--invariant", "often=3"], 2, "no ready invariant 'often'"),
    (["world:payments", "--scheduler", "tcp://127.0.0.1:9"], 2, "no Dask scheduler answers at tcp://127.0.0.1:9"),
])  # fmt: skip
@pytest.mark.usefixtures("world", "impatient")
def test_the_command_line_answers(capsys, arguments, code, said):
    assert main(["explore", *arguments]) == code
    out, err = capsys.readouterr()
    assert said in (err if code == 2 else out)
    assert "Traceback" not in out + err


def test_the_marker_runs_an_ordinary_test_under_every_schedule(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    pytester.makepyfile(
        """
        import pytest
        from emulator import Emulator

        def world(emu, charges, once):
            def handle(batch):
                for message in batch.messages:
                    if not once or message.body not in charges:
                        charges.append(message.body)
            emu.create_queue("payments")
            emu.consume("payments", handle, max_batch_timeout=0)
            emu.queue("payments").send("order-7")
            emu.run_until_idle()

        @pytest.mark.cf_explore(max_faults=1)
        @pytest.mark.cf_queues(plan="free")
        @pytest.mark.parametrize("once", [True, False])
        def test_paid(cf_queues, once, tmp_path):
            assert cf_queues.plan == "free" and tmp_path.exists()
            charges = []
            world(cf_queues, charges, once)
            assert charges == ["order-7"]

        @pytest.mark.cf_explore
        def test_of_its_own():
            charges = []
            with Emulator() as emu:
                world(emu, charges, True)
            assert charges == ["order-7"]

        @pytest.mark.cf_explore(replay="2:1")
        def test_again(cf_queues):
            charges = []
            world(cf_queues, charges, False)
            assert len(charges) == 2

        @pytest.mark.cf_explore(faults=1)
        def test_misspelt(cf_queues):
            pass
        """
    )
    done = pytester.runpytest_subprocess("--strict-markers", "-W", "error", *plugin_options())
    done.assert_outcomes(passed=3, failed=2)
    done.stdout.fnmatch_lines([
        "*test_paid?False?*", "*assert charges == ?*order-7*", "*cf_explore: broken with one fault*",
        "*2. the Worker dies after its last statement*", "*the marker cf_explore takes keywords only: max_faults*",
    ])  # fmt: skip
