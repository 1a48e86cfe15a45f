"""A whole run: find the files, read them, judge them on one process or several, conclude, repair.

This is the linter without its command line; `lint_paths`, `lint_text` and `lint_texts` are its face for Python.
"""

from __future__ import annotations

import os

from cfq_lint.facts.errors import Unreadable
from cfq_lint.facts.record import replace
from cfq_lint.model.finding import sort_key
from cfq_lint.rules.registry import INDEX
from cfq_lint.run.engine import FileResult, Report, conclude, judge
from cfq_lint.run.plan import Plan, Request, find_settings, plan_of, read_snapshot
from cfq_lint.source import discovery
from cfq_lint.source.document import Document, from_text, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cfq_lint.model.finding import Finding

FILES_PER_PROCESS_MIN = 100
"""Below twice this many files a second process costs more than it saves."""
JOBS_MAX = 32
PARTS_PER_PROCESS = 32
"""Enough that no process waits long for another at the end."""


def lint_paths(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
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
    """Lint files, and folders with all below them; one path or several.

    `env` looks at one environment only, `plan` is "free" or "paid", `known_queues` are all queues of the account. `select` and
    `ignore` hold names or codes of rules, `exclude` globs relative to the working directory. With `jobs` above 1 large runs use
    that many processes. Settings files count, and what is given here wins over them. Paths that cannot be read are
    `Report.problems`. Raises UnknownRule for a rule that does not exist and WrongSettings for a settings file that cannot be
    used.
    """
    given = tuple(os.fspath(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths))
    request = Request(
        given,
        environment=env,
        plan=plan,
        known_queues=_names(known_queues),
        select=_names(select),
        ignore=tuple(ignore),
        exclude=tuple(exclude),
        snapshot=read_snapshot(facts),
        settings=find_settings(given),
        follow_redirect=follow_redirect,
        jobs=jobs,
    )
    return lint(request)


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
    request = Request(
        document=from_text(path, text),
        environment=env,
        plan=plan,
        known_queues=_names(known_queues),
        select=_names(select),
        ignore=tuple(ignore),
    )
    return lint(request)


def lint_texts(
    texts: Mapping[str, str],
    *,
    env: str | None = None,
    plan: str | None = None,
    known_queues: Iterable[str] | None = None,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
) -> Report:
    """Lint several texts as one project, by their paths: configurations, and the Workers' sources that these name.

    What is a configuration is told by its name, as in a folder. Nothing is read from disk. The options are those of
    `lint_paths`. Raises UnknownRule for a rule that does not exist.
    """
    request = Request(
        texts={os.path.normpath(path): text for path, text in texts.items()},
        environment=env,
        plan=plan,
        known_queues=_names(known_queues),
        select=_names(select),
        ignore=tuple(ignore),
    )
    return lint(request)


def _names(given: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def lint(request: Request) -> Report:
    """Find the files of a request, read and judge them, and conclude. Raises UnknownRule."""
    plan = plan_of(request)
    return finish(*judge_all(request, plan), plan)


def finish(results: Iterable[FileResult], problems: Iterable[str], plan: Plan) -> Report:
    """The report of a run, with what the settings accept for some paths among the suppressed."""
    report = conclude(results, plan, problems)
    if not plan.per_path_ignores:
        return report
    rules = [
        (discovery.matcher([glob], folder), {INDEX[module].code for module in modules})
        for folder, glob, modules in plan.per_path_ignores
    ]
    kept: list[Finding] = []
    accepted: list[Finding] = []
    for finding in report.findings:
        is_accepted = any(finding.code in codes and matches(finding.path, False) for matches, codes in rules)
        (accepted if is_accepted else kept).append(finding)
    suppressed = sorted([*report.suppressed, *accepted], key=sort_key)
    return replace(report, findings=tuple(kept), suppressed=tuple(suppressed))


def find_files(request: Request) -> tuple[list[str], list[str]]:
    """The files of a request and the problems with its paths; both the option's and the settings' exclusions hold."""
    excluded = [(".", [*request.exclude])]
    if request.settings is not None:
        file, values = request.settings
        excluded.append((os.path.dirname(file), values.exclude))
    return discovery.find(request.paths, excluded)


def judge_all(request: Request, plan: Plan) -> tuple[list[FileResult], list[str]]:
    """Judge the document or the files of a request; the results, and a line for each path that was not read."""
    if request.document is not None:
        return [judge(request.document, plan)], []
    if request.texts is not None:
        found = [path for path in sorted(request.texts) if discovery.is_configuration(path)]
        problems = [] if found else ["no wrangler files among the texts"]
        given = discovery.Surroundings({os.path.abspath(path): text for path, text in request.texts.items()}, on_disk=False)
        return _judge_part((found, plan, given))[0], problems
    files, problems = find_files(request)
    surroundings = discovery.Surroundings()
    jobs = min(request.jobs, len(files) // FILES_PER_PROCESS_MIN, JOBS_MAX)
    if jobs > 1:
        from cfq_lint.run.processes import PARTS_MAX, spread  # only large runs need it

        size = -(-len(files) // min(jobs * PARTS_PER_PROCESS, PARTS_MAX))
        shares = [(files[start : start + size], plan, surroundings) for start in range(0, len(files), size)]
        parts = spread(_judge_part, shares, jobs)
    else:
        parts = [_judge_part((files, plan, surroundings))]
    # Each file once: a redirect may lead to a file that the run reads anyway.
    results = {result.path: result for part, _ in parts for result in part}
    return [*results.values()], [*problems, *sorted(problem for _, unread in parts for problem in unread)]


def _judge_part(work: tuple[list[str], Plan, discovery.Surroundings]) -> tuple[list[FileResult], list[str]]:
    files, plan, surroundings = work
    results: list[FileResult] = []
    problems: list[str] = []
    for file in files:
        try:
            results += [judge(document, plan) for document in open_documents(file, plan, surroundings)]
        except Unreadable as error:
            problems.append(str(error))
    return results, problems


def open_documents(file: str, plan: Plan, surroundings: discovery.Surroundings) -> Iterator[Document]:
    """The document of a file, and with `follow_redirect` of the one that is deployed instead. Raises Unreadable."""
    text = surroundings.texts.get(os.path.abspath(file))
    document = read(file) if text is None else from_text(file.replace(os.sep, "/"), text, surroundings.files().read)
    complete(document, file, plan, surroundings)
    yield document
    redirect = document.redirect
    if plan.follow_redirect and redirect is not None and redirect.target is not None:
        yield read(redirect.target)


def complete(document: Document, file: str, plan: Plan, surroundings: discovery.Surroundings) -> None:
    """Complete a document with what stands around it, and with what only running it tells, where the plan allows that."""
    if plan.ask is not None and document.dialect is not None and document.dialect.unknown:
        from cfq_lint.source.cloudflare_config import computed  # most runs know all

        computed.complete(document, file, plan.ask)
    discovery.survey(document, file, surroundings)
    if plan.source is not None and document.files is not None:
        folder = os.path.dirname(os.path.abspath(file))
        if os.path.abspath(plan.source).startswith(os.path.join(folder, "")):
            document.files.source = os.path.relpath(plan.source, folder).replace(os.sep, "/")
