"""What a run is asked, and what it looks at: a request, completed by settings and a snapshot of the account into a plan."""

from __future__ import annotations

import os

from cfq_lint.facts.record import record, replace
from cfq_lint.model.account_facts import PLANS, Facts, QueueFacts
from cfq_lint.run.selection import able, choose, matching
from cfq_lint.source.discovery import is_whole_project
from cfq_lint.source.document import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cfq_lint.model.account_facts import DeclaredLoad
    from cfq_lint.run.settings import Settings
    from cfq_lint.source.cloudflare_config.computed import Ask
    from cfq_lint.source.document import Document

_SETTINGS_FILES = (("cfq-lint.toml", ()), ("pyproject.toml", ("tool", "cfq-lint")))


@record
class Request:
    """What a run is asked: what to lint, and how.

    `paths` are files and folders; where `document` is given, or `texts` by their paths, that is judged instead, and nothing is
    read. `environment` is the
    one to look at (None: all), `plan` "free" or "paid", `known_queues` all queues of the account. `select` (None: what is on by
    default) and `ignore` hold names or codes of rules, `exclude` globs relative to the working directory. `snapshot` is what is
    known of the account, `settings` the settings file with what it holds. Large runs use up to `jobs` processes. `ask` runs a
    `cloudflare.config.ts` for what its text does not tell, unless the settings forbid it; None: nothing is run.
    """

    paths: tuple[str, ...] = ()
    document: Document | None = None
    texts: Mapping[str, str] | None = None
    environment: str | None = None
    plan: str | None = None
    known_queues: tuple[str, ...] | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    snapshot: Facts | None = None
    settings: tuple[str, Settings] | None = None
    follow_redirect: bool = False
    jobs: int = 1
    ask: Ask | None = None


@record
class Plan:
    """What a run looks at: the modules of its rules, facts, the environment (None: all), and whether redirects are followed.

    `skipped` are the codes of rules that were asked for and need the account, where the facts are not the account's.
    `is_whole_project` says that the run reads all configurations that there are.
    `per_path_ignores` are a folder, a glob relative to it, and the modules of rules whose findings are accepted in such files.
    `ask` is the request's. `source` is the Worker's entry that the settings name, absolute, None where they name none.
    """

    rules: tuple[str, ...]
    facts: Facts
    environment: str | None = None
    follow_redirect: bool = False
    per_path_ignores: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    skipped: tuple[str, ...] = ()
    is_whole_project: bool = False
    ask: Ask | None = None
    source: str | None = None


def plan_of(request: Request) -> Plan:
    """What is asked, completed by a snapshot of the account and by the settings. Raises UnknownRule."""
    plan, known_queues, select, ignore = request.plan, request.known_queues, request.select, request.ignore
    if plan is not None and plan not in PLANS:
        raise ValueError(f"plan is {' or '.join(PLANS)}, not {plan!r}")
    snapshot = request.snapshot
    queues: dict[str, QueueFacts] = {}
    declared: dict[str, DeclaredLoad] = {}
    per_path: list[tuple[str, str, tuple[str, ...]]] = []
    origin, ask, source = "declared", request.ask, None
    if snapshot is not None:
        plan = plan or snapshot.plan
        known_queues = tuple(sorted({*snapshot.queues, *(known_queues or ())}))
    if request.settings is not None:
        file, values = request.settings
        plan = plan or values.plan
        known_queues = known_queues if known_queues is not None or values.known_queues is None else tuple(values.known_queues)
        select = select if select is not None or values.select is None else tuple(values.select)
        ignore = (*values.ignore, *ignore)
        ask = ask if values.run else None
        source = os.path.join(os.path.dirname(file), values.source) if values.source is not None else None
        queues, declared = values.queue_facts(), values.loads()
        for glob, rules in values.per_path_ignores.items():
            per_path.append((os.path.dirname(file), glob, tuple(module for key in rules for module in matching(key))))
    if snapshot is not None:
        origin = f"declared, or {snapshot.origin}" if queues else snapshot.origin
        queues = {**queues, **snapshot.queues}
    known = frozenset(known_queues) if known_queues is not None else None
    facts = Facts(plan, queues, known, origin, snapshot is not None and snapshot.is_account, declared)
    if snapshot is not None and snapshot.measured is not None:
        facts = replace(facts, measured=snapshot.measured)
    modules, skipped = able(choose(select, ignore), facts)
    is_whole = request.texts is not None or (request.document is None and is_whole_project(request.paths))
    return Plan(modules, facts, request.environment, request.follow_redirect, tuple(per_path), skipped, is_whole, ask, source)


def find_settings(paths: Iterable[str]) -> tuple[str, Settings] | None:
    """The settings file that counts for a run, and what it holds; None where there is none. Raises WrongSettings.

    It is looked for upwards from the folder that all paths have in common, so that it does not depend on the working directory.
    """
    absolute = [os.path.abspath(path) for path in paths] or [os.getcwd()]
    try:
        folder = os.path.commonpath(absolute)
    except ValueError:  # on several drives
        folder = os.path.dirname(absolute[0])
    while True:
        for name, table in _SETTINGS_FILES:
            file = os.path.join(folder, name)
            if _holds(file, table):
                from cfq_lint.run.settings import load  # loads pydantic

                return file, load(file, table)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _holds(file: str, table: tuple[str, ...]) -> bool:
    if not os.path.isfile(file):
        return False
    if not table:
        return True
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return table[-1] in opened.read() and _has_table(file, table)
    except OSError:
        return False


def _has_table(file: str, table: tuple[str, ...]) -> bool:
    """Whether the table is really there: the name alone may stand in a list of dependencies."""
    root = read(file).tree.root
    plain = root.plain() if root is not None else {}
    for key in table:
        plain = plain.get(key) if isinstance(plain, dict) else None
    return plain is not None


def read_snapshot(file: str | None, *, is_account: bool = False) -> Facts | None:
    """The facts in a snapshot file, as the account itself if asked for; None where none is given. Raises WrongSettings."""
    if file is None:
        return None
    from cfq_lint.model.facts_file import load  # loads pydantic

    return load(os.fspath(file), is_account=is_account)
