"""`send`, `pull`, `tail` and `redrive`: a server's REST API from the command line, with progress on what takes long."""

from __future__ import annotations

import sys
from base64 import b64decode
from pathlib import Path
from typing import Annotated, Any

import typer

from emulator.cli.rest import ACCOUNT, URL, Account, Rest, Server, Token
from emulator.engine.bodies import json_text
from emulator.engine.clock import real_seconds, wait_really

PER_BATCH, PER_STEP = 100, 1_000
_PATIENCE_SECONDS = 3
_TAIL_POLLS_MAX = 10**7


def send(
    queue: Annotated[str, typer.Argument(help="A queue's name.")],
    body: Annotated[list[str] | None, typer.Argument(help="Bodies; none reads one a line from standard input.")] = None,
    file: Annotated[str | None, typer.Option(metavar="F", help="A file with a body a line.")] = None,
    text: Annotated[bool, typer.Option(help="Send bodies as text; otherwise each must be JSON.")] = False,
    delay: Annotated[int | None, typer.Option(metavar="S", help="Seconds until they are ready.")] = None,
    url: Server = URL, token: Token = None, account_id: Account = ACCOUNT,
) -> None:  # fmt: skip
    """Send messages to a queue, a hundred at a time."""
    with Rest(url, token, account_id) as rest:
        id = rest.queue_id(queue)
        items = [_item(line, text=text) for line in _lines(body, file)]
        extra = {} if delay is None else {"delay_seconds": delay}
        with typer.progressbar(length=len(items), label="sending", file=sys.stderr) as bar:
            for at in range(0, len(items), PER_BATCH):
                chunk = items[at : at + PER_BATCH]
                rest.post(f"/queues/{id}/messages/batch", {"messages": chunk, **extra})
                bar.update(len(chunk))
    print(f"{len(items)} sent")


def _lines(given: list[str] | None, file: str | None) -> list[str]:
    if given:
        return given
    try:
        text = sys.stdin.read() if file is None else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{file or 'standard input'} cannot be read: {error}"
        raise typer.BadParameter(message) from None
    return [line for line in text.splitlines() if line.strip()]


def _item(line: str, *, text: bool) -> dict[str, Any]:
    try:
        raw = line.encode()
        value = line if text else json_text.parse_strictly(raw, finite=True)
    except UnicodeEncodeError:
        message = f"{line[:60]!r} is no UTF-8"
    except (ValueError, RecursionError):
        message = f"{line[:60]!r} is no JSON; --text sends it as text"
    else:
        return {"body": value, "content_type": "text" if text else "json"}
    raise typer.BadParameter(message)


def pull(
    queue: Annotated[str, typer.Argument(help="A queue's name.")],
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many messages at most.")] = 10,
    ack: Annotated[bool, typer.Option(help="Acknowledge what was printed.")] = False,
    visibility_timeout_ms: Annotated[int | None, typer.Option(metavar="MS", help="How long the leases hold.")] = None,
    url: Server = URL, token: Token = None, account_id: Account = ACCOUNT,
) -> None:  # fmt: skip
    """Pull messages and print each as a line of JSON. Without --ack they come back when their leases lapse."""
    extra = {} if visibility_timeout_ms is None else {"visibility_timeout_ms": visibility_timeout_ms}
    with Rest(url, token, account_id) as rest:
        row, left = rest.queue(queue), count
        id = row["queue_id"]
        if not row["consumers"]:
            rest.fail(f"nobody may pull from {queue!r} yet: {rest.command(f'consumers add {queue}')}")
        while left > 0:
            got = rest.post(f"/queues/{id}/messages/pull", {"batch_size": min(left, PER_BATCH), **extra})["messages"]
            for message in got:
                print(json_text.told(_shown(message), ascii_only=True), flush=True)
            if ack and got:
                rest.post(f"/queues/{id}/messages/ack", {"acks": [{"lease_id": m["lease_id"]} for m in got]})
            left -= len(got)
            if not got:
                return


def _shown(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "body": _value(message)}


def _value(message: dict[str, Any]) -> Any:
    """A body as a value where its content type tells how; the rest as it is on the wire."""
    if message["metadata"].get("CF-Content-Type") == "json":
        return json_text.decode(b64decode(message["body"]))
    return message["body"]


def tail(
    queue: Annotated[str, typer.Argument(help="A queue's name.")],
    interval: Annotated[float, typer.Option(metavar="S", min=0.05, help="Seconds between two looks.")] = 1.0,
    seconds: Annotated[float | None, typer.Option("--for", metavar="S", help="Stop after so many seconds.")] = None,
    url: Server = URL, token: Token = None, account_id: Account = ACCOUNT,
) -> None:  # fmt: skip
    """Print messages as they become ready, without a lease or an attempt, until Ctrl-C."""
    until = None if seconds is None else real_seconds() + seconds
    seen: dict[str, int] = {}
    with Rest(url, token, account_id) as rest:
        id = rest.queue_id(queue)
        for _ in range(_TAIL_POLLS_MAX):
            shown = rest.post(f"/queues/{id}/messages/peek", {"batch_size": PER_BATCH})["messages"]
            for message in shown:
                if seen.get(message["id"], -1) < message["attempts"]:
                    print(json_text.told(_shown(message), ascii_only=True), flush=True)
            present = {message["id"]: message["attempts"] for message in shown}
            seen = {**dict(list(seen.items())[-10_000:]), **present}
            if until is not None and real_seconds() >= until:
                return
            wait_really(interval)


def redrive(
    source: Annotated[str, typer.Argument(metavar="DLQ", help="The dead-letter queue.")],
    target: Annotated[str, typer.Argument(metavar="QUEUE", help="Where its messages go.")],
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="How many at most.")] = 1_000_000,
    url: Server = URL, token: Token = None, account_id: Account = ACCOUNT,
) -> None:  # fmt: skip
    """Send dead letters again: ids and bodies stay, attempts start anew. Each is in one queue or the other, never in both."""
    if source == target:
        raise typer.BadParameter("a queue's messages cannot be sent to itself")
    with Rest(url, token, account_id) as rest:
        dead, _home = rest.queue_id(source), rest.queue_id(target)
        total = min(limit, rest.get(f"/queues/{dead}/metrics")["backlog_count"])
        moved, refused, patience = 0, None, _PATIENCE_SECONDS
        with typer.progressbar(length=total, label="redriving", file=sys.stderr) as bar:
            while moved < total and patience:
                given = {"target": target, "limit": min(PER_STEP, total - moved)}
                done = rest.watcher(f"/dashboard/data/queues/{dead}/redrive", given)
                moved, refused = moved + done["moved"], done["refused"]
                bar.update(done["moved"])
                if refused is not None:  # a queue takes 5,000 messages a second
                    wait_really(1)
                patience = _PATIENCE_SECONDS if done["moved"] else patience - 1 if refused else 0
    print(f"{moved} sent to {target} again")
    if refused is not None:
        print(f"cfq-emulator: the others stay: {refused}", file=sys.stderr)
        raise typer.Exit(1)
