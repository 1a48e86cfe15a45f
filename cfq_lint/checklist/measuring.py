"""What the account measured, as answers use it: figures with window and query, and declarations that they contradict."""

from __future__ import annotations

from cfq_lint.checklist.model import ACCOUNT, Evidence
from cfq_lint.facts.quantities import number
from cfq_lint.model.measured import INVOCATIONS, Figure, average_seconds, data_set, figures, seconds_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.measured import WorkerMeasured
    from cfq_lint.model.project import Project, Subject


def figure(subject: Subject, project: Project, name: str) -> Figure | None:
    """A figure of a queue; None where it was not measured."""
    return figures(project.facts.measured, subject.queue).get(name) if project.facts.measured is not None else None


def shown(figure: Figure, project: Project) -> Evidence:
    """A figure with its window and its query."""
    window = "" if project.facts.measured is None else project.facts.measured.window
    where = f"{data_set(figure.query)}, {window}"
    return Evidence(ACCOUNT, where, f"{figure.how} is {number(figure.value)} {figure.unit}")


def contradicted(said: float | None, figure: Figure | None, project: Project, what: str, unit: str) -> str:
    """What is to be said where the account has seen more than is declared; empty where it has not."""
    measured = project.facts.measured
    if said is None or figure is None or measured is None or figure.value <= said:
        return ""
    return f"declared {number(said)} {unit}; {what} in {measured.window} is {number(figure.value)} {unit}"


def processing(subject: Subject, project: Project) -> tuple[WorkerMeasured, str] | None:
    """What was measured of the Worker that consumes a queue, and its name; None where nothing was."""
    measured = project.facts.measured
    if measured is None:
        return None
    scripts = [each.script for each in subject.account_consumers or () if each.script]
    return next(((measured.workers[name], name) for name in scripts if name in measured.workers), None)


def longest(subject: Subject, project: Project) -> Figure | None:
    """The longest wall time of an invocation of the Worker that consumes a queue, whatever invoked it."""
    known = processing(subject, project)
    most = seconds_of(known[0], "wall_us_max") if known else None
    if known is None or most is None:
        return None
    how = f"max{{wallTime}} of {known[1]}, invocations of all kinds together,"
    return Figure("longest_invocation", most, "s", how, INVOCATIONS)


def average(subject: Subject, project: Project) -> float | None:
    """The average wall time of such an invocation, in seconds."""
    known = processing(subject, project)
    return average_seconds(known[0]) if known else None
