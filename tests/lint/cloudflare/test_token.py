"""The token stands nowhere: not where answers hold it, where files do, where we fail, where all is logged, and in no typo."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading

import pytest

from cfq_lint.cli import app
from cfq_lint.cli.options import AUDIT
from tests.lint.support import run

from .hostile import TOKEN, Server, assert_silent, envelope, queue, refusal
from .misbehaviours import BEARER
from .support import CONFIG, SHOP, WITH_ACCESS, audit, files

HIDING = {
    "in a queue's name": [queue("orders"), queue(f"q-{TOKEN}")],
    "as a consumer": [queue("orders", [{"type": "worker", "script_name": TOKEN, "dead_letter_queue": BEARER}]), queue("orders-dlq")],
    "as a producer": [queue("orders", producers=[{"type": "worker", "script": TOKEN.lower()}], producers_total_count=1)],
    "as a jurisdiction": [queue("orders", jurisdiction=TOKEN)],
    "escaped": [queue("orders", [{"type": "worker", "script_name": "SPELT"}])],
}


@pytest.mark.parametrize("place", HIDING)
def test_a_token_that_a_good_answer_holds_stands_in_no_report_and_in_no_file(place, room, logs, capfd):
    body = json.dumps(envelope(HIDING[place], {"total_pages": 1}))
    body = body.replace("SPELT", "".join(f"\\u{ord(each):04x}" for each in TOKEN))
    metrics = envelope({"backlog_count": 1, "backlog_bytes": 1, "oldest_message_timestamp_ms": 1})

    def script(handler, request):
        if request.lists_queues:
            handler.text(body.encode(), kind="application/json", X_Token=TOKEN, Set_Cookie=f"t={TOKEN}")
        else:
            handler.json(metrics, X_Token=BEARER)

    with Server(script) as server:
        for format in ("text", "json", "sarif"):
            options = ["--format", format, "--write-facts", "facts.json", "--output", f"report.{format}", "--write-baseline", "base.json"]
            code = audit("--base-url", server.url, *options, out=capfd)[0]
            assert code in {0, 1, 2}
    assert_silent(logs.text, *files(room).values())
    if code != 2:
        assert "[token]" in (room / "facts.json").read_text()


def test_a_token_that_stands_in_the_wrangler_file_is_not_shown_either(room, shop, capfd):
    (room / "wrangler.jsonc").write_text(f'{{ "queues": {{ "consumers": [{{ "queue": "{TOKEN}", "dead_letter_queue": "{TOKEN}" }}] }} }}')
    code, said, _ = audit("--base-url", shop.url, out=capfd)
    assert code == 1
    assert "[token]" in said
    assert audit(f"{TOKEN}.toml", "--base-url", shop.url, out=capfd)[0] == 2


@pytest.mark.usefixtures("room")
def test_a_fault_of_our_own_does_not_show_it_and_is_exit_2(shop, monkeypatch, capfd):
    def broken(*_):
        try:
            int(f"first {TOKEN}")
        except ValueError as error:
            raise RuntimeError(f"then {BEARER}") from error

    monkeypatch.setattr("cfq_lint.cli.audit.read", broken)
    assert app.run(["audit", "--base-url", shop.url]) == 2
    out, err = capfd.readouterr()
    assert_silent(out, err)
    assert "fault of cfq-lint" in err
    assert "RuntimeError: then " in err
    assert "'first [token]'" in err


DEBUGGING = "import logging, sys; logging.basicConfig(level=logging.DEBUG); from cfq_lint.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.parametrize("script", [SHOP, lambda handler, _: handler.json(refusal(1, TOKEN), 403, X_Echo=TOKEN, X_More=BEARER)], ids=["good", "bad"])
def test_a_process_of_its_own_that_logs_everything_does_not_show_it(script, tmp_path):
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    with Server(script) as server:
        environment = {**WITH_ACCESS, "CLOUDFLARE_API_BASE_URL": server.url, "PYTHONASYNCIODEBUG": "1", "PATH": "", "SSLKEYLOGFILE": "", "HTTPX_LOG_LEVEL": "trace"}
        done = subprocess.run([sys.executable, "-X", "dev", "-c", DEBUGGING, "audit"], cwd=tmp_path, capture_output=True, env=environment, check=False)
    assert b"httpcore.http11" in done.stderr
    assert (done.returncode == 2) is (script is not SHOP), done.stderr.decode()
    assert_silent(done.stdout, done.stderr)


def test_whoever_interrupts_a_slow_reading_is_left_in_peace(tmp_path):
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    asked = threading.Event()

    def script(handler, _request):
        asked.set()
        handler.silence()

    with Server(script) as server:
        environment = {**WITH_ACCESS, "CLOUDFLARE_API_BASE_URL": server.url, "PATH": ""}
        # A suite that runs in the background of a shell inherits an interrupt that is ignored; a person's terminal does not.
        heard = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
        command = [sys.executable, "-c", f"{heard}; from cfq_lint.cli import main; sys.exit(main(sys.argv[1:]))", "audit", "--timeout", "60"]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
            assert asked.wait(60)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.parametrize("arguments", [["--tokn", TOKEN], ["--token"], ["--format", "html", "--token", TOKEN], ["--token", TOKEN, "--nope"], ["--timeout=x", "--token", TOKEN]])
def test_a_typo_is_exit_2_and_does_not_show_it(arguments, tmp_path):
    done = run("audit", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert_silent(done.stdout, done.stderr)


def test_help_names_every_option_and_no_token(tmp_path):
    done = run("audit", "--help", cwd=tmp_path, env=WITH_ACCESS)
    assert done.returncode == 0
    for option in AUDIT:
        assert f"--{option.name} ".encode() in done.stdout
    assert_silent(done.stdout, done.stderr)
