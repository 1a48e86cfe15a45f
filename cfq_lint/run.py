"""A whole run: find the files, read them, judge them on one process or several, conclude, repair.

This is the linter without its command line; `lint_paths` and `lint_text` are its face for Python.
"""

from __future__ import annotations

import os

from cfq_lint import discovery
from cfq_lint.document import Document, Unreadable, read
from cfq_lint.engine import FileResult, Report, choose, conclude, judge, matching
from cfq_lint.facts import Facts, QueueFacts
from cfq_lint.finding import sort_key
from cfq_lint.record import record, replace
from cfq_lint.rules import code_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.finding import Finding
    from cfq_lint.settings import Settings

FILES_PER_PROCESS_MIN = 500
"""Below twice this many files a second process costs more than it saves."""
_SETTINGS_FILES = (("cfq-lint.toml", ()), ("pyproject.toml", ("tool", "cfq-lint")))


@record
class Plan:
    """What a run looks at: the modules of its rules, facts, the environment (None: all), and whether redirects are followed.

    `per_path_ignores` are a folder, a glob relative to it, and the modules of rules whose findings are accepted in such files.
    """

    rules: tuple[str, ...]
    facts: Facts
    environment: str | None = None
    follow_redirect: bool = False
    per_path_ignores: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


def lint_paths(
    paths: Iterable[str],
    *,
    env: str | None = None,
    plan: str | None = None,
    known_queues: Iterable[str] | None = None,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    exclude: Iterable[str] = (),
    facts: str | None = None,
    follow_redirect: bool = False,
    jobs: int = 1,
) -> Report:
    """Lint files, and folders with all below them.

    `env` looks at one environment only, `plan` is "free" or "paid", `known_queues` are all queues of the account. `select` and
    `ignore` hold names or codes of rules, `exclude` globs relative to the working directory. With `jobs` above 1 large runs use
    that many processes. Settings files count, and what is given here wins over them. Paths that cannot be read are
    `Report.problems`. Raises UnknownRule for a rule that does not exist and WrongSettings for a settings file that cannot be
    used.
    """
    paths = [os.fspath(path) for path in paths]
    found = find_settings(paths)
    made = make_plan(
        found,
        env=env,
        plan=plan,
        known_queues=known_queues,
        select=select,
        ignore=ignore,
        follow_redirect=follow_redirect,
        snapshot=read_snapshot(facts),
    )
    files, problems = find_files(paths, exclude, found)
    results, unread = judge_files(files, made, jobs)
    return finish(results, made, [*problems, *unread])


def lint_text(
    text: str,
    path: str = "wrangler.jsonc",
    *,
    env: str | None = None,
    plan: str | None = None,
    known_queues: Iterable[str] | None = None,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
) -> Report:
    """Lint one text. `path` names it in findings, and its ending says whether it is JSONC or TOML; nothing is read from disk.

    The options are those of `lint_paths`. Raises UnknownRule for a rule that does not exist.
    """
    made = make_plan(None, env=env, plan=plan, known_queues=known_queues, select=select, ignore=ignore)
    bom = text.startswith("\ufeff")
    document = Document(path, text[1:] if bom else text, bom=bom)
    return conclude([judge(document, made.rules, made.facts, env)], made.rules, made.facts, environment=env)


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
) -> Plan:
    """What is given, completed by a snapshot of the account and by the settings (their file and values). Raises UnknownRule."""
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
    known = frozenset(known_queues) if known_queues is not None else None
    return Plan(choose(select, ignore), Facts(plan, queues, known, origin), env, follow_redirect, tuple(per_path))


def read_snapshot(file: str | None) -> Facts | None:
    """The facts in a snapshot file; None where none is given. Raises WrongSettings."""
    if file is None:
        return None
    from cfq_lint.snapshot import load  # loads pydantic

    return load(os.fspath(file))


def finish(results: Iterable[FileResult], plan: Plan, problems: Iterable[str] = ()) -> Report:
    """The report of a run, with what the settings accept for some paths among the suppressed."""
    report = conclude(results, plan.rules, plan.facts, problems=problems, environment=plan.environment)
    if not plan.per_path_ignores:
        return report
    rules = [
        (discovery.matcher([glob], folder), {code_of(module) for module in modules})
        for folder, glob, modules in plan.per_path_ignores
    ]
    kept: list[Finding] = []
    accepted: list[Finding] = []
    for finding in report.findings:
        is_accepted = any(finding.code in codes and matches(finding.path, False) for matches, codes in rules)
        (accepted if is_accepted else kept).append(finding)
    suppressed = sorted([*report.suppressed, *accepted], key=sort_key)
    return replace(report, findings=tuple(kept), suppressed=tuple(suppressed))


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
                from cfq_lint.settings import load  # loads pydantic

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


def find_files(
    paths: Iterable[str], exclude: Iterable[str], settings: tuple[str, Settings] | None
) -> tuple[list[str], list[str]]:
    """The files of a run and the problems with its paths; both the option's and the settings' exclusions hold."""
    excluded = [(".", [*exclude])]
    if settings is not None:
        excluded.append((os.path.dirname(settings[0]), settings[1].exclude))
    return discovery.find(paths, excluded)


def judge_files(files: list[str], plan: Plan, jobs: int = 1) -> tuple[list[FileResult], list[str]]:
    """Judge files one by one, on several processes where there are enough; the results, and a line for each unreadable one."""
    jobs = min(jobs, len(files) // FILES_PER_PROCESS_MIN)
    if jobs > 1:
        from cfq_lint.processes import spread  # only large runs need it

        parts = spread(_judge_part, [(files[start::jobs], plan) for start in range(jobs)])
    else:
        parts = [_judge_part((files, plan))]
    # Each file once: a redirect may lead to a file that the run reads anyway.
    results = {result.path: result for part, _ in parts for result in part}
    return [*results.values()], sorted(problem for _, problems in parts for problem in problems)


def _judge_part(work: tuple[list[str], Plan]) -> tuple[list[FileResult], list[str]]:
    files, plan = work
    surroundings = discovery.Surroundings()
    results: list[FileResult] = []
    problems: list[str] = []
    for file in files:
        try:
            results += [
                judge(document, plan.rules, plan.facts, plan.environment)
                for document in open_documents(file, plan, surroundings)
            ]
        except Unreadable as error:
            problems.append(str(error))
    return results, problems


def open_documents(file: str, plan: Plan, surroundings: discovery.Surroundings) -> Iterator[Document]:
    """The document of a file, and with `follow_redirect` of the one that is deployed instead. Raises Unreadable."""
    document = read(file)
    discovery.survey(document, file, surroundings)
    yield document
    redirect = document.redirect
    if plan.follow_redirect and redirect is not None and redirect.target is not None:
        yield read(redirect.target)
