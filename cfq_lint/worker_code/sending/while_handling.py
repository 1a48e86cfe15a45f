"""What a queue handler sends on: calls of `send` and `sendBatch` that are reached while a message of one queue is handled."""

from __future__ import annotations

from cfq_lint.worker_code.lowering.steps import Branch, Call, Floating, Loop, Try

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.worker_code.lowering.steps import Spot, Step
    from cfq_lint.worker_code.modules.program import Program

SENDS = frozenset({"send", "sendBatch", "send_batch"})


def sent_while_handling(program: Program, queue: str) -> Iterator[tuple[str, Spot]]:
    """The bindings that the handlers send to, and where, in what they and the functions that they call do with a queue."""
    seen: set[Spot] = set()
    waiting = [*program.handlers()]
    while waiting:
        module, function = waiting.pop(0)
        if function.spot in seen:
            continue
        seen.add(function.spot)
        for call in _calls(function.body, queue):
            if call.name in SENDS and len(call.chain) > 1:
                yield call.chain[-2], call.spot
            called = program.callee(module, call.chain, function.owner)
            if called is not None:
                waiting.append(called)


def _calls(steps: Iterable[Step], queue: str) -> Iterator[Call]:
    for step in steps:
        if isinstance(step, Call):
            yield step
        for inner in _within(step, queue):
            yield from _calls(inner, queue)


def _within(step: Step, queue: str) -> Iterator[Iterable[Step]]:
    """The bodies inside of a step that may run for a queue."""
    match step:
        case Call(arguments=arguments):
            yield from (each.function.body for each in arguments if each.function is not None)
        case Loop(body=body, called=called):
            yield body
            if called is not None and called.function is not None:
                yield called.function.body
        case Branch(arms=arms):
            for test, body in arms:
                if test is None or not test.of or test.of[-1] != "queue" or test.imported or test.holds(queue):
                    yield body
                    if test is not None and test.of and test.of[-1] == "queue" and not test.imported:
                        return
        case Floating(body=body):
            yield body
        case Try(body=body, handler=handler, orelse=orelse, final=final):
            yield from (body, handler or (), orelse, final)
        case _:
            return
