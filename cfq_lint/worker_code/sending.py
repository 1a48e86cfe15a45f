"""What a queue handler sends on: calls of `send` and `sendBatch` that are reached while a message of one queue is handled."""

from __future__ import annotations

from cfq_lint.worker_code.steps import Branch, Call, Floating, Loop, Try

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.worker_code.program import Program
    from cfq_lint.worker_code.steps import Module, Spot, Step

SENDS = frozenset({"send", "sendBatch", "send_batch"})


def sent_while_handling(program: Program, queue: str) -> Iterator[tuple[str, Spot]]:
    """The bindings that the handlers send to, and where, in what they and the functions that they call do with a queue."""
    seen: set[Spot] = set()
    for module, handler in program.handlers():
        seen.add(handler.spot)
        yield from _sent(program, module, handler.owner, handler.body, queue, seen)


def _sent(
    program: Program, module: Module, owner: str, steps: Iterable[Step], queue: str, seen: set[Spot]
) -> Iterator[tuple[str, Spot]]:
    for step in steps:
        if isinstance(step, Call):
            if step.name in SENDS and len(step.chain) > 1:
                yield step.chain[-2], step.spot
            called = program.callee(module, step.chain, owner)
            if called is not None and called[1].spot not in seen:
                at, function = called
                seen.add(function.spot)
                yield from _sent(program, at, function.owner, function.body, queue, seen)
        for inner in _within(step, queue):
            yield from _sent(program, module, owner, inner, queue, seen)


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
