"""`create`, `queues` and `consumers`: a server's queues, for people without a wrangler file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from emulator.cli.rest import ACCOUNT, URL, Account, Rest, Server, Token
from emulator.engine.ledger.table import table

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGES_MAX, _PER_PAGE = 1_000, 100
_PULL = "http_pull"

consumers = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Give a queue its consumer, or take it away.")


def create(
    queue: Annotated[list[str], typer.Argument(help="Names of queues.")],
    delay: Annotated[int | None, typer.Option(metavar="S", help="Seconds until a message is ready.")] = None,
    retention: Annotated[int | None, typer.Option(metavar="S", help="Seconds until a message is gone.")] = None,
    url: Server = URL, token: Token = None, account_id: Account = ACCOUNT,
) -> None:  # fmt: skip
    """Create queues."""
    settings = _given(delivery_delay=delay, message_retention_period=retention)
    with Rest(url, token, account_id) as rest:
        for name in queue:
            rest.post("/queues", {"queue_name": name, **({"settings": settings} if settings else {})})
            print(f"{name} created")


def queues(url: Server = URL, token: Token = None, account_id: Account = ACCOUNT) -> None:
    """List the queues: what waits, who consumes, and where its dead letters go."""
    with Rest(url, token, account_id) as rest:
        rows = [_row(rest, queue) for queue in _all(rest)]
        if rows:
            print(table(["queue", "waiting", "consumer", "retries", "dead letters to"], rows))
        else:
            print(f"no queues: {rest.command('create NAME')}")


def _all(rest: Rest) -> Iterator[dict[str, Any]]:
    for page in range(1, _PAGES_MAX):
        found = rest.get("/queues", page=page, per_page=_PER_PAGE)
        yield from found
        if len(found) < _PER_PAGE:
            return


def _row(rest: Rest, queue: dict[str, Any]) -> list[str]:
    waiting = rest.get(f"/queues/{queue['queue_id']}/metrics")["backlog_count"]
    consumer = next(iter(queue["consumers"]), None)
    if consumer is None:
        return [queue["queue_name"], str(waiting), "none", "", ""]
    kind = "pull" if consumer["type"] == _PULL else f"Worker {consumer.get('script') or ''}".strip()
    retries = consumer["settings"].get("max_retries", "")
    return [queue["queue_name"], str(waiting), kind, str(retries), consumer.get("dead_letter_queue") or ""]


@consumers.command("add")
def add(
    queue: Annotated[str, typer.Argument(help="A queue's name.")],
    worker: Annotated[
        str | None, typer.Option(metavar="NAME", help="A Worker, as wrangler would attach it; else messages are pulled.")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(metavar="N", help="Messages in a batch.")] = None,
    max_retries: Annotated[int | None, typer.Option(metavar="N", help="Deliveries after the first.")] = None,
    retry_delay: Annotated[int | None, typer.Option(metavar="S", help="Seconds until a message comes back.")] = None,
    dead_letter_queue: Annotated[str | None, typer.Option(metavar="Q", help="Where messages go behind the last retry.")] = None,
    visibility_timeout_ms: Annotated[int | None, typer.Option(metavar="MS", help="How long a lease of a pull holds.")] = None,
    url: Server = URL, token: Token = None, account_id: Account = ACCOUNT,
) -> None:  # fmt: skip
    """Attach a consumer: messages are pulled, unless a Worker is named. A queue has one."""
    settings = _given(
        batch_size=batch_size, max_retries=max_retries, retry_delay=retry_delay, visibility_timeout_ms=visibility_timeout_ms
    )
    kind: dict[str, Any] = {"type": _PULL} if worker is None else {"type": "worker", "script_name": worker}
    with Rest(url, token, account_id) as rest:
        body = {**kind, **_given(dead_letter_queue=dead_letter_queue), "settings": settings}
        rest.post(f"/queues/{rest.queue_id(queue)}/consumers", body)
    print(f"{queue} is consumed by {'pulls' if worker is None else f'Worker {worker}'}")


@consumers.command("remove")
def remove(
    queue: Annotated[str, typer.Argument(help="A queue's name.")],
    url: Server = URL, token: Token = None, account_id: Account = ACCOUNT,
) -> None:  # fmt: skip
    """Take a queue's consumer away. Its messages stay."""
    with Rest(url, token, account_id) as rest:
        row = rest.queue(queue)
        if not row["consumers"]:
            rest.fail(f"queue {queue!r} has no consumer")
        for consumer in row["consumers"]:
            rest.delete(f"/queues/{row['queue_id']}/consumers/{consumer['consumer_id']}")
    print(f"{queue} has no consumer any more")


def _given(**settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}
