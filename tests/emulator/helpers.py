"""What the emulator's tests share: timelines in seconds, fates by queue, handlers that follow a list."""

from __future__ import annotations

import sys
from datetime import timedelta

DAY = 86_400


def seconds(emu, moment=None):
    """Virtual seconds from 2026-01-01, where every emulator starts unless told otherwise, to a moment (now)."""
    moment = emu.now if moment is None else moment
    span = (moment - moment.replace(year=2026, month=1, day=1, hour=0, minute=0, second=0, microsecond=0)) / timedelta(seconds=1)
    return int(span) if span == int(span) else span


def timeline(emu, queue=None):
    """(second, bodies, attempts) of each delivery, of one queue or of all."""
    return [
        (seconds(emu, d.at), [body for _, body, _ in d.messages], [attempts for *_, attempts in d.messages])
        for d in emu.deliveries if queue in (None, d.queue)
    ]


def moments(emu, queue=None):
    """(second, bodies) of each delivery."""
    return [(at, bodies) for at, bodies, _ in timeline(emu, queue)]


def fates(emu, queue=None):
    """(body, state) of each message in each queue that it entered."""
    return [(f.body, f.state) for f in emu.fates if queue in (None, f.queue)]


def send(emu, queue, *bodies, **options):
    """Send bodies with one sendBatch()."""
    return emu.queue(queue).send_batch([{"body": body} for body in bodies], **options)


def following(*acts):
    """A handler that does one act after the other, one for each invocation, and then nothing."""
    left = list(acts)

    def handler(batch):
        if left:
            left.pop(0)(batch)

    return handler


def throw(_batch):
    """Fail the whole batch."""
    raise RuntimeError("thrown by the test")


def plugin_options():
    """What tells a pytest of its own about the plugins: our own, where the distribution is not installed; none that takes a second."""
    from importlib.metadata import entry_points

    known = {entry.value for entry in entry_points(group="pytest11")}
    needed = [name for name in ("emulator.testing.pytest_plugin", "emulator.explore.pytest_plugin") if name not in known]
    options = (*needed, "no:cacheprovider", "no:schemathesis", "no:hypothesispytest")
    return [option for name in options for option in ("-p", name)]


def calls_in(work):
    """How many functions of Python are called by something: what it costs, whatever else the machine does."""
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def lines_run(act):
    """How many lines of Python an act runs through: a cost that no neighbour on the machine changes."""
    lines = 0

    def trace(_frame, event, _argument):
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return lines


def same(a, b):
    """Whether two values are equal and of the same types, however deep they are."""
    todo = [(a, b)]
    while todo:
        a, b = todo.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, list):
            todo += zip(a, b, strict=True)
        elif isinstance(a, dict):
            todo += [*zip(a, b, strict=True), *((a[key], b[key]) for key in a if key in b)]
        elif a != b and (a == a or b == b):  # noqa: PLR0124 - NaN is not equal to itself
            return False
    return True


def nested(depth, wrap=lambda inner: [inner]):
    """A value so deep."""
    value = 1
    for _ in range(depth):
        value = wrap(value)
    return value
