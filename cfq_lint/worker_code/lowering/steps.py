"""The few steps that a source is made into, in either language."""

from __future__ import annotations

import re

from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

RETURN, RAISE, BREAK, CONTINUE = "return", "raise", "break", "continue"
IDEMPOTENCY_KEY = re.compile(r"idempotency[-_]?key", re.IGNORECASE)
ANY = "[]"
"""What stands in a chain for `x[…]`."""
NEW = "new "
"""With the name of a class behind it, what stands in a chain for `new Class(…)`."""
DEFAULT = "default"
EVERYTHING = "*"
"""What is imported where the name stands for a module, and all that it exports."""
NOTHING: frozenset[str] = frozenset()


@record
class Spot:
    """A place in a source, 1-based."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"

    def seen_from(self, other: Spot) -> str:
        """The line, with the file where another place is in another one."""
        return f"line {self.line}" if self.path == other.path else f"{self.path}:{self.line}"


@record
class Argument:
    """What a call is given: `chain` where it is a plain path such as `message.body`, `function` where one is written there.

    `mentions` are the names in it, `whole` those that are handed over themselves, and not just a field of theirs; `fresh` says
    that it holds an id made on the spot.
    """

    chain: tuple[str, ...]
    mentions: frozenset[str]
    whole: frozenset[str]
    function: Function | None = None
    fresh: bool = False


@record
class Call:
    """A call, its receivers and their calls included: `env.DB.prepare(…).bind(…).run()` is one, with that chain.

    `mentions` are the names that stand in it outside of functions written there, `text` its literal strings. `awaited` says
    that nothing goes on before it is done; `fresh` that its arguments hold an id made on the spot. `key` is what stands in it
    as idempotency key, None where none is seen, and `key_is_fresh` that it is made on the spot. `in_memory` says that its
    receiver is a set or a map of this process, which forgets. `held` are the names that its receivers' calls are handed.
    """

    chain: tuple[str, ...]
    arguments: tuple[Argument, ...]
    mentions: frozenset[str]
    text: str
    awaited: bool
    fresh: bool
    spot: Spot
    key: frozenset[str] | None = None
    key_is_fresh: bool = False
    in_memory: bool = False
    held: frozenset[str] = NOTHING

    @property
    def name(self) -> str:
        """The last of the chain."""
        return self.chain[-1]


@record
class Assign:
    """Names that are bound to something; `chain` where that is a plain path, `about` all plain paths in it.

    `kept` are the names in it that a field of the object itself takes over, where they may be used at any time.
    """

    names: tuple[str, ...]
    chain: tuple[str, ...]
    mentions: frozenset[str]
    fresh: bool
    is_pattern: bool = False
    about: tuple[tuple[str, ...], ...] = ()
    kept: frozenset[str] = NOTHING
    spot: Spot | None = None


@record
class Loop:
    """A body that runs for each element. `waits` is False where it starts work and does not wait.

    `is_function` says that the body is a function's, so that its `return` leads on to the next element; `called` is a function
    that is named instead.
    """

    names: tuple[str, ...]
    over: tuple[str, ...]
    mentions: frozenset[str]
    body: tuple[Step, ...]
    spot: Spot
    waits: bool = True
    is_function: bool = False
    called: Argument | None = None


@record
class Test:
    """A comparison of the batch's queue with names: `of` is what is compared, e.g. `batch.queue`.

    Of each name a `*` at the beginning or the end stands for anything: `orders*` is what begins so. `imported` are names that
    another module binds.
    """

    of: tuple[str, ...]
    names: frozenset[str]
    is_equal: bool = True
    imported: frozenset[str] = NOTHING

    def holds(self, queue: str) -> bool:
        """Whether it is true of a queue's name."""
        return any(_fits(queue, name) for name in self.names) == self.is_equal


def _fits(queue: str, name: str) -> bool:
    text = name.strip("*")
    if name.startswith("*") and name.endswith("*"):
        return text in queue
    if name.startswith("*"):
        return queue.endswith(text)
    return queue.startswith(text) if name.endswith("*") else queue == name


def either(tests: list[Test | None]) -> Test | None:
    """One comparison for several of which one has to hold; None where that is not one of the same thing."""
    known = [test for test in tests if test is not None]
    if len(known) < len(tests) or len({test.of for test in known}) != 1 or not all(test.is_equal for test in known):
        return None
    names = frozenset(name for test in known for name in test.names)
    return Test(known[0].of, names, imported=frozenset(name for test in known for name in test.imported))


def opposite(test: Test | None) -> Test | None:
    """The comparison that holds where another does not."""
    return None if test is None else Test(test.of, test.names, not test.is_equal, test.imported)


@record
class Branch:
    """One of the arms runs; the last is the one for everything else, perhaps empty. `about` are the paths in the conditions."""

    arms: tuple[tuple[Test | None, tuple[Step, ...]], ...]
    about: tuple[tuple[str, ...], ...] = ()


@record
class Try:
    """`handler` is None where nothing is caught."""

    body: tuple[Step, ...]
    handler: tuple[Step, ...] | None
    orelse: tuple[Step, ...]
    final: tuple[Step, ...]
    spot: Spot


@record
class Floating:
    """Work that is started and not waited for here.

    `held` where the runtime waits for it at the end (`waitUntil`), `joined` where the handler does so itself, later.
    """

    body: tuple[Step, ...]
    spot: Spot
    held: bool = False
    joined: bool = False


@record
class Exit:
    """`return`, `raise`, `break` or `continue`."""

    kind: str


@record
class Function:
    """A function: each parameter by its name, or by the names that a pattern takes out of it.

    `owner` is the class or object that it is a method of, "" where it is none, or where that has no name.
    """

    name: str
    parameters: tuple[str | tuple[str, ...], ...]
    body: tuple[Step, ...]
    is_async: bool
    spot: Spot
    owner: str = ""


if TYPE_CHECKING:
    Step: TypeAlias = Call | Assign | Loop | Branch | Try | Floating | Exit


@record
class Sent:
    """A call of `send` or `sendBatch` on a binding.

    `keys` are the fields of what is sent, None where that is not certain, and `fresh` those that hold an id made on the spot;
    `most` is how many messages one call can hold at most.
    """

    binding: str
    is_batch: bool
    keys: frozenset[str] | None
    fresh: frozenset[str]
    most: int | None
    spot: Spot
