"""From documents to a report: every rule on every file, then the rules about the whole run. No input, no output.

A file is judged alone first, so that its tree can be forgotten; what the rules about the run need of it are its links. A rule
that fails makes a finding about the linter and never ends the run.
"""

from __future__ import annotations

import os
from functools import cache

from cfq_lint.facts.record import record, replace
from cfq_lint.model.account_facts import Facts, QueueFacts
from cfq_lint.model.finding import Finding, Severity, sort_key
from cfq_lint.model.topology import Links, Topology, links_of
from cfq_lint.model.wrangler import Worker
from cfq_lint.rules.registry import INDEX, load
from cfq_lint.rules.rule import CONSUMER, ENTRY, ENVIRONMENT, LISTED_CONSUMER, PRODUCER, RUN, SOURCE_CODE, WORKER
from cfq_lint.rules.signs import ACCOUNT, CONSUMERS, FACTS, PLAN, SEVERAL_FILES, SOURCE, signs_of
from cfq_lint.source.text import Lines, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from cfq_lint.model.consuming import Code
    from cfq_lint.model.topology import DeclaredQueue
    from cfq_lint.rules.rule import Rule
    from cfq_lint.run.ignores import Ignore
    from cfq_lint.run.plan import Plan
    from cfq_lint.source.document import Document

CRASH_CODE = "CFQ000"
CRASH_NAME = "internal-error"
_NOTHING_KNOWN = Facts()
IGNORE_MARK = "cfq-lint:"
_SYNTAX = "cfq0"


@record
class SourceResult:
    """A module of a Worker that was read: its path, and the ignores in it."""

    path: str
    ignores: tuple[Ignore, ...]


@record
class FileResult:
    """What judging one file gave. `whole` is False where the file does not parse and only its syntax was judged.

    `unknown` and `unfollowed` are as in `Report`; `sources` are the modules of the Worker's own that were read.
    """

    path: str
    findings: tuple[Finding, ...]
    links: Links
    ignores: tuple[Ignore, ...]
    whole: bool
    signs: frozenset[str]
    unknown: int = 0
    sources: tuple[SourceResult, ...] = ()
    unfollowed: tuple[str, ...] = ()


@record
class Report:
    """All findings of a run, sorted by file and position.

    `files` are the paths that were read, `suppressed` the findings that ignores accept, `baselined` those that a baseline does,
    `unparsed` the files of which only the syntax was judged, `problems` one line for every path that could not be read,
    `skipped` the codes of the rules that need the account where nothing shows it, and `crashed` says that a rule failed.
    `unfollowed` says what of the Workers' sources was not followed, and so not judged, a line each.
    `unknown` counts the values about queues that only running a `cloudflare.config.ts`, or applying a plan, would tell.
    """

    findings: tuple[Finding, ...]
    files: tuple[str, ...]
    suppressed: tuple[Finding, ...] = ()
    baselined: tuple[Finding, ...] = ()
    unparsed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    crashed: bool = False
    skipped: tuple[str, ...] = ()
    unknown: int = 0
    unfollowed: tuple[str, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings have that severity."""
        return sum(finding.severity == severity for finding in self.findings)


def judge(document: Document, plan: Plan, worker: Worker | None = None) -> FileResult:
    """Run the rules about single files on one document; `worker` is its view where there is one already."""
    facts, rules = plan.facts, plan.rules
    worker = worker or Worker(document, plan.environment)
    whole = document.whole
    signs = signs_of(worker)
    if facts != _NOTHING_KNOWN:
        signs.add(FACTS)
    if facts.is_account:
        signs.add(ACCOUNT)
    if document.dialect is not None:
        facts = _with_declared(facts, links_of(worker).declared)
        signs.update((FACTS, PLAN) if worker.declared or document.dialect.replaced else ())
        rules = tuple(module for module in rules if not document.dialect.skips(module))
    findings: list[Finding] = []
    code, failed = None, ""
    if whole and CONSUMERS in signs and _may_have_source(worker, signs):
        code, failed = _code(worker, rules)
    if code is not None:
        from cfq_lint.rules.signs_in_code import signs_in  # only where a source is read

        signs |= signs_in(code)
    loaded = _rules_for(frozenset(signs), rules, whole)
    targets = visits_of(worker) if loaded else {}
    if code is not None and targets:
        targets[SOURCE_CODE] = (code,)
    top = document.top
    for rule in loaded:
        findings += visit(rule, targets, facts, top)
    links = links_of(worker) if whole else Links(is_whole=False)
    unknown = document.dialect.unknown if document.dialect is not None else 0
    ignores: tuple[Ignore, ...] = ()
    if IGNORE_MARK in document.text:
        from cfq_lint.run.ignores import ignores_of  # most files have none

        ignores = ignores_of(document)
    is_there = code is not None and (SOURCE in signs or not code.program.problem)
    sources, unfollowed = _of_code(code) if code is not None and is_there else ((), (failed,) if failed else ())
    shown = frozenset(signs)
    return FileResult(document.path, tuple(findings), links, ignores, whole, shown, unknown, sources, unfollowed)


def _may_have_source(worker: Worker, signs: set[str]) -> bool:
    """Whether there may be a source: the entry itself, or a project around it where that is what a build writes."""
    document = worker.document
    if document.files is None:
        return False
    has_main = any(each.inherited("main") is not None for each in worker.environments)
    return SOURCE in signs or (has_main and document.files.may_build(os.path.dirname(document.path)))


def _of_code(code: Code) -> tuple[tuple[SourceResult, ...], tuple[str, ...]]:
    """The modules that were read, with the ignores in them, and what was not followed."""
    sources = []
    for path, module in code.program.modules.items():
        ignores: tuple[Ignore, ...] = ()
        if IGNORE_MARK in module.text:
            from cfq_lint.run.ignores import ignores_in  # most sources have none

            ignores = ignores_in(path, module.text)
        sources.append(SourceResult(path, ignores))
    return tuple(sources), code.unfollowed


def _code(worker: Worker, rules: tuple[str, ...]) -> tuple[Code | None, str]:
    """The source of a Worker that consumes queues, where a rule asks for it; or why it cannot be judged."""
    if all(INDEX[module].visit != SOURCE_CODE for module in rules):
        return None, ""
    from cfq_lint.model.consuming import code_of  # most files have no source beside them

    try:
        return code_of(worker), ""
    except Exception as error:  # noqa: BLE001 - whatever a stranger's source does to us, the run goes on and says so
        return None, f"{worker.document.path}: its Worker's source was not judged ({type(error).__name__}: {error})"


def _with_declared(facts: Facts, declared: Iterable[DeclaredQueue]) -> Facts:
    """The facts, and what files say of the queues that they make themselves, where the facts do not know better."""
    queues = {
        each.queue: QueueFacts(message_retention_period=each.retention, delivery_delay=each.delivery_delay) for each in declared
    }
    return replace(facts, queues={**queues, **facts.queues}) if queues else facts


def visits_of(worker: Worker) -> dict[str, Iterable[Any]]:
    """What there is in a file for rules to judge, by the word in `Rule.visit`.

    Consumers of `previews` are entries that wrangler reads and then leaves alone: only their shape matters.
    """
    environments = worker.environments
    consumers = [consumer for each in environments if not each.is_previews for consumer in each.consumers]
    listed = [consumer for each in environments for consumer in each.consumers]
    producers = [producer for each in environments for producer in each.producers]
    return {
        WORKER: (worker,),
        SOURCE_CODE: (),
        ENVIRONMENT: environments,
        CONSUMER: consumers,
        PRODUCER: producers,
        LISTED_CONSUMER: listed,
        ENTRY: [*producers, *listed, *worker.declared],
    }


def visit(rule: Rule, targets: dict[str, Iterable[Any]], facts: Facts, place: Place) -> Iterable[Finding]:
    """What a rule finds in a file, or in the run; a failure is a finding at `place`, of the linter.

    Environments inherit, and so come to the same place: the same said twice of one place is one finding.
    """
    findings: list[Finding] = []
    try:
        for target in targets[rule.visit]:
            findings += rule.check(target, facts)
    except Exception as error:  # noqa: BLE001 - whatever a rule does, the run goes on and says so
        findings.append(_crash(rule, error, place))
    if len(findings) <= 1:
        return findings
    once: dict[tuple[str, int, int, str, str], Finding] = {}
    for finding in findings:
        once.setdefault(sort_key(finding), finding)
    return once.values()


@cache
def _rules_for(signs: frozenset[str], modules: tuple[str, ...], whole: bool) -> tuple[Rule, ...]:
    """The rules that have a sign to go by, of a file that parses or of the syntax alone; files with the same signs are many."""
    return tuple(
        load(module)
        for module in modules
        if INDEX[module].visit != RUN and not signs.isdisjoint(INDEX[module].signs) and (whole or module.startswith(_SYNTAX))
    )


def conclude(results: Iterable[FileResult], plan: Plan, problems: Iterable[str] = ()) -> Report:
    """Run the rules about the whole run, apply the ignores, and sort. `problems` are lines about paths that were not read."""
    ordered = sorted(results, key=lambda result: result.path)
    facts, problems = plan.facts, tuple(problems)
    topology = Topology(result.links for result in ordered)
    found = [finding for result in ordered for finding in result.findings]
    signs = {sign for result in ordered if result.whole for sign in result.signs}
    if len(ordered) > 1:
        signs.add(SEVERAL_FILES)
    if facts.is_account:
        signs.add(ACCOUNT)
    place = Place(ordered[0].path if ordered else "", Lines(""), 0, 0)
    if topology.declared:
        facts = _with_declared(facts, topology.declared.values())
        signs.add(FACTS)
    for module in plan.rules:
        if INDEX[module].visit == RUN and not signs.isdisjoint(INDEX[module].signs):
            found += visit(load(module), {RUN: (topology,)}, facts, place)
    # Two configurations of one Worker come to the same place in its source.
    once = {sort_key(finding): finding for finding in reversed(found)}
    found = [once[key] for key in sorted(once)]
    suppressed: list[Finding] = []
    sources = {each.path: each for result in ordered for each in result.sources if each.ignores}
    if sources or any(result.ignores for result in ordered):
        from cfq_lint.run.ignores import Commented, Scope, apply_ignores  # most runs have none

        files = [Commented(each.path, each.ignores, each.whole, SOURCE in each.signs) for each in ordered if each.ignores]
        files += [Commented(each.path, each.ignores, True, True) for each in sources.values()]
        is_whole_project = plan.is_whole_project and topology.is_whole and not problems
        scope = Scope(plan.rules, facts, is_whole_project=is_whole_project, is_whole_file=plan.environment is None)
        found, suppressed = apply_ignores(files, found, scope)
    return Report(
        findings=tuple(found),
        files=tuple(result.path for result in ordered),
        suppressed=tuple(suppressed),
        unparsed=tuple(result.path for result in ordered if not result.whole),
        problems=problems,
        crashed=any(finding.code == CRASH_CODE for finding in found),
        skipped=plan.skipped,
        unknown=sum(result.unknown for result in ordered),
        unfollowed=tuple(dict.fromkeys(each for result in ordered for each in result.unfollowed)),
    )


def _crash(rule: Rule, error: Exception, place: Place) -> Finding:
    message = f"the rule {rule.name} failed on this file, which is a fault of cfq-lint: {type(error).__name__}: {error}"
    return Finding(CRASH_CODE, CRASH_NAME, Severity.ERROR, message, place, "")
