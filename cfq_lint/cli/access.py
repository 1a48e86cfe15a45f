"""With what an audit asks the account, from options, environment and files; and the asking, with a progress bar."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cfq_lint.account import account as reader
from cfq_lint.account.api import BASE_URLS, PUBLIC, Api
from cfq_lint.account.secret import Secret
from cfq_lint.cli.check import say, use_colour
from cfq_lint.facts.errors import Usage
from cfq_lint.facts.record import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cfq_lint.model.facts_file import Snapshot
    from cfq_lint.model.wrangler import Field, Worker

TOKEN, ACCOUNT = "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID"
_BASE_URL, _REGION = "CLOUDFLARE_API_BASE_URL", "CLOUDFLARE_COMPLIANCE_REGION"
TIMEOUT_SECONDS_MAX = 600


@record
class Access:
    """With what the account is asked."""

    base_url: str
    account: str
    token: Secret
    timeout_seconds: float


def tokens(values: dict[str, Any]) -> list[Secret]:
    """Every token that was given, the one to use first. An empty variable is none. Raises WrongAccess."""
    given = [values["token"], os.environ.get(TOKEN) or None]
    return [Secret(text) for text in given if text is not None]


def access(values: dict[str, Any], workers: tuple[Worker, ...], token: Secret | None) -> Access | None:
    """With what to ask; None where nobody named an account. Half of it is a mistake."""
    if token is None:
        if values["account_id"] is not None or values["base_url"] or os.environ.get(ACCOUNT):
            raise Usage(f"the API token is missing: set {TOKEN} (permission Queues Read), or use --facts")
        return None
    base_url = values["base_url"] or os.environ.get(_BASE_URL) or BASE_URLS[_region(workers)]
    return Access(base_url, _account(values["account_id"], workers), token, timeout(values))


def _shown(field: Field) -> str:
    return f"{field.place.path}:{field.place.line}"


def _account(given: str | None, workers: tuple[Worker, ...]) -> str:
    """The account of the option, else that of the files, else that of the environment: the last two as wrangler deploys.

    Whoever confuses account and token gives the token here, so only places are named.
    """
    named: dict[str, str] = {given.strip(): "--account-id"} if given and given.strip() else {}
    is_given = bool(named)
    for worker in workers:
        for environment in worker.environments:
            field = environment.fields.get("account_id") or worker.fields.get("account_id")
            if field is not None and field.text:
                named.setdefault(field.text, _shown(field))
    if not is_given and len(named) > 1:
        places = ", ".join(named.values())
        raise Usage(f"the files name several accounts ({places}); audit one after another with --account-id, or one --env")
    in_environment = (os.environ.get(ACCOUNT) or "").strip()
    if in_environment:
        named.setdefault(in_environment, ACCOUNT)
    if not named:
        raise Usage(f"the account is missing: set {ACCOUNT}, or account_id in the wrangler file, or use --account-id")
    (account, source), *others = named.items()
    if others:
        say(f"this is about the account of {source}; another stands in {', '.join(where for _, where in others)}")
    return account


def _region(workers: tuple[Worker, ...]) -> str:
    """The compliance region of the environment or of the files; as for wrangler, they may not contradict each other."""
    named = {os.environ[_REGION]: _REGION} if os.environ.get(_REGION) else {}
    for worker in workers:
        for environment in worker.environments:
            field = environment.inherited("compliance_region")
            if field is not None:
                named.setdefault(str(field.node.value), _shown(field))
    unknown = next((place for region, place in named.items() if region not in BASE_URLS), None)
    if unknown is not None:
        raise Usage(f"the compliance region in {unknown} is none: it is {' or '.join(BASE_URLS)}")
    if len(named) > 1:
        shown = ", ".join(f"{region} by {place}" for region, place in named.items())
        raise Usage(
            f"several compliance regions are named ({shown}); audit one after another with one --env, or use --base-url"
        )
    return next(iter(named), PUBLIC)


def timeout(values: dict[str, Any]) -> float:
    """The seconds of `--timeout`."""
    try:
        seconds = float(values["timeout"])
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= TIMEOUT_SECONDS_MAX:
        raise Usage(f"--timeout is a number of seconds above 0 and up to {TIMEOUT_SECONDS_MAX}")
    return seconds


def read(found: Access, names: set[str], plan: str | None) -> Snapshot:
    """The account, as it is now. Raises AccountError."""

    async def ask() -> Snapshot:
        api = Api(found.base_url, found.account, found.token, timeout_seconds=found.timeout_seconds)
        async with api:
            return await reader.read(api, names, plan, told)

    with _progress() as told:
        return asyncio.run(ask())


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """A progress bar where somebody looks at the terminal; it is gone in the end."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _what, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

    console = Console(stderr=True, no_color=not use_colour(sys.stderr))
    columns = (SpinnerColumn(), TextColumn("reading {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("the account", total=None)

        def told(what: str, done: int, total: int | None) -> None:
            progress.update(task, description=what, completed=done, total=total)

        yield told
