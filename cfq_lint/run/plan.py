"""What a run looks at: options, settings and a snapshot of the account, made into one plan."""

from __future__ import annotations

import os

from cfq_lint.facts.record import record
from cfq_lint.model.account_facts import PLANS, Facts, QueueFacts
from cfq_lint.run.engine import able, choose, matching
from cfq_lint.source.discovery import is_whole_project
from cfq_lint.source.document import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.run.settings import Settings

_SETTINGS_FILES = (("cfq-lint.toml", ()), ("pyproject.toml", ("tool", "cfq-lint")))


@record
class Plan:
    """What a run looks at: the modules of its rules, facts, the environment (None: all), and whether redirects are followed.

    `skipped` are the codes of rules that were asked for and need the account, where the facts are not the account's.
    `is_whole_project` says that the run reads all configurations that there are.
    `per_path_ignores` are a folder, a glob relative to it, and the modules of rules whose findings are accepted in such files.
    """

    rules: tuple[str, ...]
    facts: Facts
    environment: str | None = None
    follow_redirect: bool = False
    per_path_ignores: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    skipped: tuple[str, ...] = ()
    is_whole_project: bool = False


def make_plan(
    settings: tuple[str, Settings] | None,
    *,
    env: str | None = None,
    plan: str | None = None,
    known_queues: Iterable[str] | None = None,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    follow_redirect: bool = False,
    snapshot: Facts | None = None,
    paths: Iterable[str] = (),
) -> Plan:
    """What is given, completed by a snapshot of the account and by the settings (their file and values). Raises UnknownRule.

    `paths` are what the run is on, which says whether it sees the whole project.
    """
    if plan is not None and plan not in PLANS:
        raise ValueError(f"plan is {' or '.join(PLANS)}, not {plan!r}")
    queues: dict[str, QueueFacts] = {}
    per_path: list[tuple[str, str, tuple[str, ...]]] = []
    origin = "declared"
    if snapshot is not None:
        plan = plan or snapshot.plan
        known_queues = sorted({*snapshot.queues, *(known_queues or ())})
    if settings is not None:
        file, values = settings
        plan = plan or values.plan
        known_queues = values.known_queues if known_queues is None else known_queues
        select = values.select if select is None else select
        ignore = [*values.ignore, *ignore]
        queues = values.queue_facts()
        for glob, rules in values.per_path_ignores.items():
            per_path.append((os.path.dirname(file), glob, tuple(module for key in rules for module in matching(key))))
    if snapshot is not None:
        origin = f"declared, or {snapshot.origin}" if queues else snapshot.origin
        queues = {**queues, **snapshot.queues}
    declared = settings[1].loads() if settings is not None else {}
    known = frozenset(known_queues) if known_queues is not None else None
    facts = Facts(plan, queues, known, origin, snapshot is not None and snapshot.is_account, declared)
    modules, skipped = able(choose(select, ignore), facts)
    return Plan(modules, facts, env, follow_redirect, tuple(per_path), skipped, is_whole_project(paths))


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
