"""An estimate's loads from what the account measured, and what the files' settings would have made of the window's traffic."""

from __future__ import annotations

from cfq_lint.facts.quantities import number
from cfq_lint.facts.record import replace
from cfq_lint.model.account_facts import DeclaredLoad
from cfq_lint.model.measured import average_seconds, figures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.estimate.model import QueueEstimate
    from cfq_lint.model.measured import Measured
    from cfq_lint.model.project import Subject


def measured_load(subject: Subject, measured: Measured) -> DeclaredLoad:
    """What was measured of a queue, as it would be declared; None where it was not."""
    known = {name: figure.value for name, figure in figures(measured, subject.queue).items()}
    size, rate = known.get("average_message"), known.get("rate")
    scripts = [each.script for each in subject.account_consumers or () if each.script]
    workers = [measured.workers[name] for name in scripts if name in measured.workers]
    return DeclaredLoad(
        message_size_bytes=None if size is None else round(size),
        rate_per_second=rate,
        failure_share=known.get("failure_share"),
        processing_seconds=average_seconds(workers[0]) if workers else None,
    )


def with_window(estimate: QueueEstimate, subject: Subject, measured: Measured) -> QueueEstimate:
    """The estimate with what was measured, and what the settings would have made of the same traffic."""
    known = figures(measured, subject.queue)
    if "written" not in known:
        return replace(estimate, notes=(*estimate.notes, f"nothing was measured of it in {measured.window}"))
    written, dead = known["written"].value, figures(measured, estimate.dead_letter_queue or "")
    total = known["operations"].value + (dead["operations"].value if "operations" in dead else 0)
    would = written * estimate.operations_per_message
    beside = f", {number(dead['operations'].value)} of them in {estimate.dead_letter_queue}" if "operations" in dead else ""
    said = (
        f"measured in {measured.window}: {number(written)} messages written, {number(known['delivered'].value)} delivered,"
        f" {number(known['dead_lettered'].value)} dead-lettered, {number(total)} operations{beside}; with the settings above"
        f" the same messages, failing as often, make {number(would)} operations"
    )
    shared = "its time is that of all invocations of its Worker, which the account does not tell apart"
    more = (shared,) if estimate.load.processing_seconds is not None else ()
    return replace(estimate, notes=(*estimate.notes, said, *more), measured_in=measured.window)
