"""`cfq-lint audit`: the files held against the account, which is read live or taken from a snapshot."""

from __future__ import annotations

import asyncio
import math
import os
import sys
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cfq_lint.cli.check import Usage, answer, fail, say_that_there_is_nothing, use_colour, write
from cfq_lint.cloudflare import account as reader
from cfq_lint.cloudflare.api import BASE_URL, Api
from cfq_lint.cloudflare.errors import AccountError
from cfq_lint.cloudflare.secret import Secret
from cfq_lint.discovery import Surroundings
from cfq_lint.document import Document, Unreadable
from cfq_lint.engine import Report, UnknownRule, judge
from cfq_lint.plan import Plan, find_settings, make_plan, read_snapshot
from cfq_lint.record import record
from cfq_lint.run import find_files, finish, open_documents
from cfq_lint.settings import Settings, WrongSettings
from cfq_lint.snapshot import as_text, from_text
from cfq_lint.topology import links_of
from cfq_lint.wrangler import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cfq_lint.facts import Facts
    from cfq_lint.snapshot import Snapshot

TIMEOUT_SECONDS_MAX = 600
_ORIGIN = "in the account"


@record
class Access:
    """What the account is asked with."""

    base_url: str
    account: str
    token: Secret
    timeout_seconds: float


@record
class Gathered:
    """What an audit knows in the end: the report, the Workers of the files that parse, the facts, and the settings."""

    report: Report
    workers: tuple[Worker, ...]
    facts: Facts
    settings: tuple[str, Settings] | None


def audit(values: dict[str, Any]) -> int:
    """Audit and report; the exit code. `values` are those of the table AUDIT. No text that is shown holds the token."""
    clean: Callable[[str], str] = str
    try:
        token = _token(values)
        if token is not None:
            clean = token.scrub
        gathered = gather(values, token)
        return answer(gathered.report, {**values, "diff": False}, gathered.settings, clean=clean, is_audit=True)
    except (Usage, UnknownRule, Unreadable, WrongSettings, AccountError) as error:
        return fail(clean(str(error)))
    except OSError:
        raise  # of our output; whoever runs all commands says it
    except Exception as error:  # noqa: BLE001 - it is said here, since Python would say it with the token
        if type(error).__name__ == "WrongBaseline":
            return fail(clean(str(error)))
        return fail(clean(f"this is a fault of cfq-lint, please report it\n{traceback.format_exc().rstrip()}"))


def gather(values: dict[str, Any], token: Secret | None) -> Gathered:
    """Read the files and the account, and judge."""
    paths: list[str] = values["paths"]
    if "-" in paths:
        raise Usage("an audit reads files; standard input (-) is for `cfq-lint check`")
    if values["select"] == []:
        raise Usage("--select names no rule")
    settings = find_settings(paths)
    plan = _plan(values, settings, None)  # a wrong option is said before anything is sent
    files, problems = find_files(paths, values["exclude"] or (), settings)
    if not files and not problems:
        say_that_there_is_nothing(paths)
    documents, unread = _documents(files, plan)
    workers = tuple(Worker(document, plan.environment) for document in documents if document.whole)
    facts = _facts(values, workers, token)
    plan = _plan(values, settings, facts)
    if facts is None:
        _say(
            f"no account was read, and {len(plan.skipped)} rules about it did not run; set CLOUDFLARE_API_TOKEN and "
            "CLOUDFLARE_ACCOUNT_ID, or name a snapshot with --facts"
        )
    results = [judge(document, plan.rules, plan.facts, plan.environment) for document in documents]
    return Gathered(finish(results, plan, [*problems, *unread]), workers, plan.facts, settings)


def _plan(values: dict[str, Any], settings: tuple[str, Settings] | None, facts: Facts | None) -> Plan:
    return make_plan(
        settings,
        env=values["env"],
        plan=values["plan"],
        select=values["select"],
        ignore=values["ignore"] or (),
        follow_redirect=values["follow_redirect"],
        snapshot=facts,
    )


def _documents(files: list[str], plan: Plan) -> tuple[list[Document], list[str]]:
    """The documents of the files, each once, and a line for each file that cannot be read."""
    surroundings = Surroundings()
    documents: dict[str, Document] = {}
    problems: list[str] = []
    for file in files:
        try:
            documents |= {document.path: document for document in open_documents(file, plan, surroundings)}
        except Unreadable as error:
            problems.append(str(error))
    return [*documents.values()], problems


def _facts(values: dict[str, Any], workers: tuple[Worker, ...], token: Secret | None) -> Facts | None:
    """What is known of the account: by the snapshot, else by reading it, else nothing."""
    if values["facts"]:
        if values["write_facts"]:
            raise Usage("--write-facts saves what is read from the account, and with --facts nothing is read; leave one out")
        return read_snapshot(values["facts"], is_account=True)
    access = _access(values, workers, token)
    if access is None:
        if values["write_facts"]:
            raise Usage("--write-facts needs the account: set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID")
        return None
    # What was read goes the way of the file, so that the file gives the same report.
    text = as_text(_read(access, _names(workers), values["plan"]))
    if values["write_facts"]:
        write(values["write_facts"], access.token.scrub(text))
    return from_text(text, origin=_ORIGIN, is_account=True)


def _names(workers: tuple[Worker, ...]) -> set[str]:
    """The queues that the files name."""
    names: set[str] = set()
    for links in map(links_of, workers):
        names |= {link.queue for link in links.producers}
        names |= {link.queue for link in links.consumers}
        names |= {link.dead_letter_queue for link in links.consumers if link.dead_letter_queue}
    return names


def _token(values: dict[str, Any]) -> Secret | None:
    """The token of the option or of the environment, where an empty variable is none."""
    given = values["token"] if values["token"] is not None else os.environ.get("CLOUDFLARE_API_TOKEN") or None
    return None if given is None else Secret(given)


def _access(values: dict[str, Any], workers: tuple[Worker, ...], token: Secret | None) -> Access | None:
    """What to ask the account with; None where nobody named one. Half of it is a mistake."""
    timeout = _timeout(values["timeout"])
    named = values["account_id"] or os.environ.get("CLOUDFLARE_ACCOUNT_ID")
    if token is None:
        if named or values["base_url"]:
            raise Usage("the API token is missing: set CLOUDFLARE_API_TOKEN (permission Queues Read), or use --facts")
        return None
    account = _account(named, workers)
    base_url = values["base_url"] or os.environ.get("CLOUDFLARE_API_BASE_URL") or BASE_URL
    return Access(base_url, account, token, timeout)


def _account(named: str | None, workers: tuple[Worker, ...]) -> str:
    """The account that is named, else the one in the files."""
    in_files: dict[str, str] = {}
    for worker in workers:
        for environment in worker.environments:
            field = environment.fields.get("account_id") or worker.fields.get("account_id")
            if field is not None and field.text:
                in_files.setdefault(field.text, f"{field.place.path}:{field.place.line}")
    if named:
        named = named.strip()
        other = [f"{where} says {account}" for account, where in in_files.items() if account != named]
        if other:
            _say(f"the account that is read is {named}, and {', '.join(other)}")
        return named
    if not in_files:
        raise Usage(
            "the account is missing: set CLOUDFLARE_ACCOUNT_ID, or `account_id` in the wrangler file, or use --account-id"
        )
    if len(in_files) > 1:
        said = ", ".join(f"{account} ({where})" for account, where in in_files.items())
        raise Usage(f"the files name several accounts: {said}; audit them one by one, or name one with --account-id")
    return next(iter(in_files))


def _timeout(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= TIMEOUT_SECONDS_MAX:
        raise Usage(f"--timeout is a number of seconds above 0 and up to {TIMEOUT_SECONDS_MAX}")
    return seconds


def _read(access: Access, names: set[str], plan: str | None) -> Snapshot:
    async def ask() -> Snapshot:
        api = Api(access.base_url, access.account, access.token, timeout_seconds=access.timeout_seconds)
        with _progress() as told:
            async with api:
                return await reader.read(api, names, plan, told)

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


def _say(message: str) -> None:
    print(f"cfq-lint: {message}", file=sys.stderr)
