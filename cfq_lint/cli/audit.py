"""`cfq-lint audit`: the files held against the account, which is read live or taken from a snapshot."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from cfq_lint.cli.acceptance import accept, explain, is_asked
from cfq_lint.cli.access import ACCOUNT, TOKEN, access, one_account, read, timeout, tokens, window
from cfq_lint.cli.check import answer, fail, refuse_dashes, request_of, say, write
from cfq_lint.facts.errors import LinterError, Unreadable, Usage
from cfq_lint.facts.record import record, replace
from cfq_lint.model.facts_file import as_text, from_text
from cfq_lint.model.topology import links_of
from cfq_lint.model.wrangler import Worker
from cfq_lint.report.deploy import Deploy, deploy_of, without_repeats
from cfq_lint.run.engine import Report, judge
from cfq_lint.run.lint import find_files, finish, open_documents
from cfq_lint.run.plan import Plan, plan_of, read_snapshot
from cfq_lint.source.discovery import Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable

    from cfq_lint.account.secret import Secret
    from cfq_lint.model.account_facts import Facts
    from cfq_lint.run.settings import Settings
    from cfq_lint.source.document import Document

_ORIGIN = "in the account"


@record
class Gathered:
    """What an audit knows in the end: report and verdict, the Workers of the files that parse, the facts, and the settings."""

    report: Report
    deploy: Deploy
    workers: tuple[Worker, ...]
    facts: Facts
    settings: tuple[str, Settings] | None


def audit(values: dict[str, Any]) -> int:
    """Audit and report; the exit code. `values` are those of the table AUDIT. No text that is shown holds the token."""
    secrets: list[Secret] = []

    def clean(text: str) -> str:
        for each in secrets:
            text = each.scrub(text)
        return text

    try:
        secrets += tokens(values)
        wants_more = is_asked(values)
        gathered = gather(values, secrets[0] if secrets else None)
        if wants_more:
            return accept(gathered.report, gathered.workers, gathered.facts, values, clean)
        if values["explain_numbers"]:
            explain(gathered.facts, clean)
        return _answered(gathered, values, clean)
    except LinterError as error:
        return fail(clean(str(error)))
    except OSError:
        raise  # of our output; whoever runs all commands says it
    except Exception:  # noqa: BLE001 - it is said here, since Python would say it with the token
        return fail(clean(f"this is a fault of cfq-lint, please report it\n{traceback.format_exc().rstrip()}"))


def _answered(gathered: Gathered, values: dict[str, Any], clean: Callable[[str], str]) -> int:
    page = None
    if values["format"] == "html":
        from cfq_lint.report.audit_page import render  # most audits are read at a terminal

        def page(report: Report) -> str:
            return render(report, gathered.deploy, gathered.facts.measured)

    values = {**values, "diff": False}
    return answer(gathered.report, values, gathered.settings, clean=clean, deploy=gathered.deploy, page=page)


def gather(values: dict[str, Any], token: Secret | None) -> Gathered:
    """Read the files and the account, and judge."""
    refuse_dashes(values)
    if "-" in values["paths"]:
        raise Usage("an audit reads files; standard input (-) is for `cfq-lint check`")
    timeout(values)
    window(values)
    request = request_of({**values, "facts": None})
    plan = plan_of(request)  # a wrong option is said before anything is sent
    files, problems = find_files(request)
    documents, unread = _documents(files, plan)
    workers = tuple(Worker(document, plan.environment) for document in documents if document.whole)
    facts = _facts(values, workers, token)
    plan = plan_of(replace(request, snapshot=facts))
    if facts is None:
        skipped = f"{len(plan.skipped)} rule{'' if len(plan.skipped) == 1 else 's'} about it did not run"
        say(f"no account was read, and {skipped}; set {TOKEN} and {ACCOUNT}, or name a snapshot with --facts")
    for line in _unmeasured(facts):
        say(line)
    results = [judge(document, plan) for document in documents]
    report = without_repeats(finish(results, [*problems, *unread], plan))
    return Gathered(report, deploy_of(report, workers, plan.facts), workers, plan.facts, request.settings)


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
        if len(values["facts"]) > 1:
            raise Usage("--facts takes one snapshot, which is of one account: audit one after another")
        one_account(values["account_id"], workers)
        facts = read_snapshot(values["facts"][0], is_account=True)
        if values["window"] and facts is not None:
            own = "none" if facts.measured is None else facts.measured.window
            raise Usage(f"--window is for an account that is read; the snapshot has a window of its own ({own}): leave one out")
        return facts
    found = access(values, workers, token)
    if found is None:
        if values["write_facts"]:
            raise Usage(f"--write-facts needs the account: set {TOKEN} and {ACCOUNT}")
        return None
    # What was read goes the way of the file, so that the file gives the same report.
    text = found.token.scrub(as_text(read(found, _names(workers), values["plan"], window(values))))
    if values["write_facts"]:
        write(values["write_facts"], text)
    return from_text(text, origin=_ORIGIN, is_account=True)


def _unmeasured(facts: Facts | None) -> list[str]:
    """What of the analytics could not be read, a line for each reason."""
    reasons: dict[str, list[str]] = {}
    for query, why in facts.measured.missing.items() if facts is not None and facts.measured is not None else ():
        reasons.setdefault(why, []).append(query)
    return [f"not measured: {', '.join(queries)}: {why}" for why, queries in reasons.items()]


def _names(workers: tuple[Worker, ...]) -> set[str]:
    """The queues that the files name."""
    names: set[str] = set()
    for links in map(links_of, workers):
        names |= {link.queue for link in links.producers}
        names |= {link.queue for link in links.consumers}
        names |= {link.dead_letter_queue for link in links.consumers if link.dead_letter_queue}
    return names
