"""With what an audit asks the account, from options, environment and files; and the asking, with a progress bar."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from cfq_lint.account import account as reader
from cfq_lint.account.api import BASE_URLS, PUBLIC, Api
from cfq_lint.account.secret import Secret
from cfq_lint.cli.check import say, use_colour
from cfq_lint.facts import limits, quantities
from cfq_lint.facts.errors import Usage, WrongQuantity
from cfq_lint.facts.record import record
from cfq_lint.model.measured import HOUR_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cfq_lint.model.facts_file import Snapshot
    from cfq_lint.model.wrangler import Field, Worker

TOKEN, ACCOUNT = "CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID"
KEY, EMAIL = "CLOUDFLARE_API_KEY", "CLOUDFLARE_EMAIL"
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
    """Every token that was given, the one to use first. An empty variable is none. Raises WrongAccess.

    A key with its e-mail comes before the token of the environment, as wrangler has it.
    """
    key, email, token = (os.environ.get(name) for name in (KEY, EMAIL, TOKEN))
    found = [Secret(values["token"])] if values["token"] is not None else []
    found += [Secret(key, email)] if key and email else []
    found += [Secret(token)] if token else []
    return found


def access(values: dict[str, Any], workers: tuple[Worker, ...], token: Secret | None) -> Access | None:
    """With what to ask; None where nobody named an account. Half of it is a mistake."""
    if token is None:
        for name, other in ((KEY, EMAIL), (EMAIL, KEY)):
            if os.environ.get(name):
                raise Usage(f"{name} is set without {other}: an API key and its e-mail go together; or set {TOKEN}")
        if values["account_id"] is not None or values["base_url"] or os.environ.get(ACCOUNT):
            raise Usage(f"the API token is missing: set {TOKEN} (permission Queues Read), or {KEY} and {EMAIL}, or use --facts")
        return None
    base_url = values["base_url"] or os.environ.get(_BASE_URL) or BASE_URLS[_region(workers)]
    return Access(base_url, _account(values["account_id"], workers), token, timeout(values))


def _shown(field: Field) -> str:
    return f"{field.place.path}:{field.place.line}"


def one_account(given: str | None, workers: tuple[Worker, ...]) -> None:
    """See to it that the files are of one account, as what is read and a snapshot are of one. Raises Usage."""
    named = _named(workers)
    if not (given and given.strip()) and len(named) > 1:
        places = ", ".join(named.values())
        raise Usage(f"the files name several accounts ({places}); audit one after another with --account-id, or one --env")


def _named(workers: tuple[Worker, ...]) -> dict[str, str]:
    """The accounts that the files name, each with the first place."""
    named: dict[str, str] = {}
    for worker in workers:
        for environment in worker.environments:
            field = environment.fields.get("account_id") or worker.fields.get("account_id")
            if field is not None and field.text:
                named.setdefault(field.text, _shown(field))
    return named


def _account(given: str | None, workers: tuple[Worker, ...]) -> str:
    """The account of the option, else that of the files, else that of the environment: the last two as wrangler deploys.

    Whoever confuses account and token gives the token here, so only places are named.
    """
    one_account(given, workers)
    named = {given.strip(): "--account-id"} if given and given.strip() else {}
    for account, place in _named(workers).items():
        named.setdefault(account, place)
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


WINDOW = "7d"


def window(values: dict[str, Any]) -> int | None:
    """The seconds of `--window`, in whole hours; None where the analytics are left out. Raises Usage."""
    if values["no_analytics"]:
        if values["analytics"]:
            raise Usage("--analytics and --no-analytics exclude each other")
        return None
    try:
        seconds = quantities.duration(values["window"] or WINDOW)
    except WrongQuantity:
        seconds = Fraction(0)
    if not HOUR_SECONDS <= seconds <= limits.ANALYTICS_WINDOW_SECONDS or seconds % HOUR_SECONDS:
        raise Usage("--window is whole hours from 1h to 31d, as 24h or 7d")
    return int(seconds)


def read(found: Access, names: set[str], plan: str | None, window_seconds: int | None) -> Snapshot:
    """The account, as it is now, with what was measured in a window. Raises AccountError."""

    async def ask() -> Snapshot:
        api = Api(found.base_url, found.account, found.token, timeout_seconds=found.timeout_seconds)
        async with api:
            return await reader.read(api, names, plan, told, window_seconds)

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
