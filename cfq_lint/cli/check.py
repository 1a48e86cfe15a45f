"""`cfq-lint check`: from options to a report on the terminal or in a file, and the exit code."""

from __future__ import annotations

import os
import sys

from cfq_lint.facts.errors import LinterError, Usage
from cfq_lint.model.finding import Severity
from cfq_lint.run.lint import finish, judge_all
from cfq_lint.run.plan import Plan, Request, find_settings, plan_of, read_snapshot
from cfq_lint.source.document import from_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from cfq_lint.model.finding import Finding
    from cfq_lint.report.deploy import Deploy
    from cfq_lint.run.engine import FileResult, Report
    from cfq_lint.run.settings import Settings

CLEAN, FOUND, FAILED = 0, 1, 2


def check(values: dict[str, Any]) -> int:
    """Lint, repair where asked, report; the exit code. `values` are those of `options.parse`."""
    try:
        return _check(values)
    except LinterError as error:
        return fail(str(error))


def fail(message: str) -> int:
    """Say why a run is refused; the exit code for it."""
    for line in message.splitlines():
        say(line)
    return FAILED


def refuse_dashes(values: dict[str, Any]) -> None:
    """Refuse `-` for what is written: standard output is the report's, and nobody means a file of that name. Raises Usage."""
    if values["output"] == "-":
        raise Usage("--output takes a file's name; without it the report goes to standard output")
    for key in ("write_baseline", "write_facts"):
        if values.get(key) == "-":
            raise Usage(f"--{key.replace('_', '-')} takes a file's name; standard output is for the report")


def _check(values: dict[str, Any]) -> int:
    refuse_dashes(values)
    request = request_of(values)
    plan = plan_of(request)
    results, problems = judge_all(request, plan)
    if values["fix"] or values["unsafe_fixes"] or values["diff"]:
        report = _repair(results, problems, plan, values)
    else:
        report = finish(results, problems, plan)
    return answer(report, values, request.settings)


def request_of(values: dict[str, Any]) -> Request:
    """What the options ask. Standard input is read where it is named. Raises Usage, WrongSettings and Unreadable."""
    paths = tuple(values["paths"])
    if values["select"] == []:
        raise Usage("--select names no rule")
    document = None
    if "-" in paths:
        if len(paths) > 1 or values["fix"] or values["unsafe_fixes"] or values["diff"]:
            raise Usage("standard input (-) is linted alone, and cannot be repaired")
        paths = (values["stdin_filename"] or "wrangler.jsonc",)
        document = from_bytes(paths[0].replace(os.sep, "/"), sys.stdin.buffer.read())
    return Request(
        paths,
        document,
        environment=values["env"],
        plan=values["plan"],
        known_queues=_known_queues(values.get("known_queues")),
        select=None if values["select"] is None else tuple(values["select"]),
        ignore=tuple(values["ignore"] or ()),
        exclude=tuple(values["exclude"] or ()),
        snapshot=read_snapshot(values["facts"]),
        settings=find_settings(paths),
        follow_redirect=values["follow_redirect"],
        jobs=os.cpu_count() or 1,
        ask=None if values["no_run"] else _ask,
    )


def _ask(file: str, contexts: tuple[tuple[str | None, bool], ...]) -> tuple[Any, ...] | None:
    from cfq_lint.cli.computed import ask  # most runs read no such file

    return ask(file, contexts, say)


def answer(
    report: Report,
    values: dict[str, Any],
    settings: tuple[str, Settings] | None,
    *,
    clean: Callable[[str], str] = str,
    deploy: Deploy | None = None,
    page: Callable[[Report], str] | None = None,
) -> int:
    """Hold a report against the baseline, show it, and judge it: the exit code. `clean` is the last to touch what is shown.

    `deploy` is the verdict of an audit, `page` what makes one of its report.
    """
    if values["baseline"] or values["write_baseline"]:
        from cfq_lint.run import baseline

        if values["write_baseline"]:
            write(values["write_baseline"], baseline.as_text(report, values["write_baseline"]))
        report = baseline.accept(report, values["write_baseline"] or values["baseline"])
    threshold = Severity(values["fail_on"] or (settings[1].fail_on if settings else "warning"))
    for problem in report.problems:
        say(clean(problem))
    for line in report.unfollowed if values.get("show_unknown") else ():
        say(clean(f"not followed: {line}"))
    if values["diff"] and not values["output"]:
        sys.stdout.flush()  # what is left over would fail where nobody catches it any more
    else:
        show(clean(page(report) if page is not None else _rendered(report, values, threshold, deploy)), values)
    if report.problems or report.crashed:
        return FAILED
    return FOUND if any(finding.severity.rank >= threshold.rank for finding in report.findings) else CLEAN


def say(message: str) -> None:
    """Say something beside the report."""
    print(f"cfq-lint: {message}", file=sys.stderr)


def _known_queues(file: str | None) -> tuple[str, ...] | None:
    """The names in a file: one a line, or a JSON list of names or of queues as the API and wrangler list them."""
    if file is None:
        return None
    try:
        with open(file, encoding="utf-8-sig") as opened:
            text = opened.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"{file}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    if not text.lstrip().startswith("["):
        return tuple(line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    import json

    try:
        listed = json.loads(text)
    except ValueError as error:
        raise Usage(f"{file}: not a JSON list: {error}") from error
    given = [entry.get("queue_name") if isinstance(entry, dict) else entry for entry in listed]
    names = [name for name in given if isinstance(name, str)]
    if len(names) < len(given):
        raise Usage(f"{file}: a list of names, or of objects with `queue_name`, is needed")
    return tuple(names)


def _repair(results: list[FileResult], problems: list[str], plan: Plan, values: dict[str, Any]) -> Report:
    from cfq_lint.facts.record import replace
    from cfq_lint.run.repair import repair, write

    repaired = repair(results, problems, plan, unsafe=values["unsafe_fixes"])
    changes = repaired.changes
    if values["diff"]:
        from cfq_lint.cli.diff import unified

        for change in changes:
            sys.stdout.write(unified(change, colour=use_colour(sys.stdout)))
        _say_what_fixes_bring(repaired.brought, "would bring")
        return finish(results, problems, plan)
    refused = [said for change in changes if (said := write(change)) is not None]
    done = [change for change in changes if not any(said.startswith(f"{change.path}: ") for said in refused)]
    if done:
        count = sum(change.fixed for change in done)
        say(f"fixed {count} in {len(done)} file{'' if len(done) == 1 else 's'}")
        _say_what_fixes_bring(repaired.brought, "brought")
    return replace(repaired.report, problems=(*repaired.report.problems, *refused))


def _say_what_fixes_bring(brought: Iterable[Finding], verb: str) -> None:
    """Tell of findings that were not there before the fixes: people look at what they asked for, not at what follows."""
    for finding in brought:
        say(f"the fixes {verb} a new finding: {finding.path}:{finding.line}: {finding.severity} {finding.code} {finding.name}")


def show(text: str, values: dict[str, Any]) -> None:
    """Write what the run has to say to the file that `--output` names, or to the terminal."""
    if values["output"]:
        write(values["output"], text)
        return
    # What cannot be written in the terminal's encoding is escaped rather than lost with a traceback.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.stdout.write(text)
    sys.stdout.flush()


def _rendered(report: Report, values: dict[str, Any], threshold: Severity, deploy: Deploy | None) -> str:
    from cfq_lint.report import COLOURED, renderer

    name = values["format"]
    tell_skipped = deploy is not None or values["select"] is not None
    if deploy is not None and name == "text" and not values["statistics"]:
        from cfq_lint.report.audit import render as render_audit  # a check has no verdict

        return render_audit(report, deploy, colour=not values["output"] and use_colour(sys.stdout), width=terminal_width())
    if deploy is not None and name == "json":
        from cfq_lint.report.json import render as render_json

        return render_json(report, deploy)
    if values["statistics"] and name in COLOURED:
        return _statistics(report, tell_skipped=tell_skipped)
    render = renderer(name)
    if name in COLOURED:
        colour = not values["output"] and use_colour(sys.stdout)
        return render(report, colour=colour, width=terminal_width(), tell_skipped=tell_skipped)
    if name == "sarif":
        return render(report, root=os.getcwd())
    return render(report, fail_on=threshold) if name == "junit" else render(report)


def _statistics(report: Report, *, tell_skipped: bool) -> str:
    counts: dict[tuple[str, str, str], int] = {}
    for finding in report.findings:
        key = (finding.code, finding.severity.value, finding.name)
        counts[key] = counts.get(key, 0) + 1
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    lines = [f"{count:>6}  {code}  {severity:<7}  {name}" for (code, severity, name), count in rows]
    from cfq_lint.drawing.colour import Paint
    from cfq_lint.report.text import summed_up

    return "\n".join([*lines, summed_up(report, Paint(colour=False), tell_skipped=tell_skipped)]) + "\n"


def use_colour(stream: Any) -> bool:
    """Whether to colour what goes to a stream: a terminal, unless NO_COLOR is set; always with FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def terminal_width() -> int:
    """How many columns the terminal has; many where there is none."""
    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        return 120


def write(path: str, text: str) -> None:
    """Write a report whole or not at all. A pipe or a device is written to and never replaced; a link keeps its target."""
    import tempfile

    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
            return
        path = os.path.realpath(path)
        folder = os.path.dirname(path)
        handle, draft = tempfile.mkstemp(dir=folder, prefix=".cfq-lint-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
            os.chmod(draft, 0o644)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise Usage(f"{path}: cannot be written: {error.strerror or error}") from error
