"""Cloudflare's own tests of queues, retold as data: what is done, and what is expected, step by step.

miniflare: workers-sdk f8308360, packages/miniflare/test/plugins/queues (index, delay, retry, cross-process).
workerd: workerd 6552d999, src/workerd/api/tests/queue-*-test.js. Python SDK: workers-py b00837d4, bindings-test/src/test_queue.py.
Where the tests ask for what only those programs do, DEPARTURES says who is right, and why.
"""

from __future__ import annotations

import re
from array import array
from datetime import UTC, datetime
from typing import Any, NamedTuple

from emulator import Emulator, Refused
from emulator.engine.bodies.v8_values import ClonedError
from emulator.engine.ledger.steps import steps
from emulator.server.observe.logs import EventLog

DEPARTURES = {
    "a queue without a consumer": (
        "miniflare drops its messages. Cloudflare stores them until their retention is over (queues/reference/how-queues-works), "
        "so the emulator keeps them, and a consumer that comes later gets them"
    ),
    "strange queue names": (
        "miniflare takes `my/ Queue`. Cloudflare's API refuses it with 11003: a name is 1 to 63 of a-z, 0-9 and hyphens"
    ),
    "a producer's deliveryDelay": (
        "miniflare honours it. Since 2024 the service does not (wrangler 4.90 says so): the queue's own delivery_delay counts, "
        "and the retold tests set that"
    ),
    "metrics in the answer to send()": (
        "miniflare counts before it stores. The emulator counts after: the documentation asks for the backlog of the queue, and a "
        "message whose send was answered is in it"
    ),
    "the text of a refusal": (
        "miniflare answers 413 with its own sentence. The service answers with a code (queues/reference/error-codes): 10204, and "
        "without queue_expose_error_codes only the HTTP status"
    ),
    "words of the log": (
        "miniflare counts the failed attempts when it drops or moves a message. The emulator's server says the same of the same "
        "messages, without the number"
    ),
}
"""What the tests ask for and the emulator does otherwise."""


class Retold(NamedTuple):
    """One of their tests: where it stands, the consumers that it has, and its steps: a deed, or `expect` with a question."""

    source: str
    name: str
    consumers: dict[str, dict[str, Any]]
    steps: list[tuple[Any, ...]]


class Player:
    """Plays a test. `came` has what arrived since it was looked at last: a list for each batch."""

    def __init__(self, test: Retold) -> None:
        self.emu = Emulator()
        self.came: list[list[tuple[str, Any, int]]] = []
        self.ids: dict[str, str] = {}
        self.retried: set[Any] = set()
        self.how = "each"
        self.answer: Any = None
        for name, settings in test.consumers.items():
            self.emu.create_queue(name, delivery_delay=settings.get("delivery_delay"))
        for name, settings in test.consumers.items():
            own = {key: value for key, value in settings.items() if key != "delivery_delay"}
            self.emu.consume(name, self.handle, **own)
        self._logged = len(self.emu.events)

    def handle(self, batch):
        self.came.append([(batch.queue, message.body, message.attempts) for message in batch.messages])
        self.ids |= {str(message.body): message.id for message in batch.messages}
        if self.how == "retryAll":
            batch.retryAll()
        elif self.how == "throw":
            raise RuntimeError("Whoops!")
        else:
            for message in batch.messages:
                if message.body in self.retried:
                    message.retry()

    def do(self, deed, *given):
        getattr(self, deed)(*given)

    def send(self, queue, body, **options):
        self.answer = self.emu.queue(queue).send(body, **options)

    def batch(self, queue, *bodies, **options):
        rows = [body if isinstance(body, dict) and "body" in body else {"body": body} for body in bodies]
        self.answer = self.emu.queue(queue).send_batch(rows, **options)

    def delayed(self, queue, body, seconds):
        self.send(queue, body, delaySeconds=seconds)

    def delayed_batch(self, queue, seconds, *bodies):
        self.batch(queue, *bodies, delaySeconds=seconds)

    def advance(self, seconds):
        self.emu.advance(seconds)

    def clear(self):
        self.came.clear()
        self._logged = len(self.emu.events)

    def retry(self, *bodies):
        self.how, self.retried = "each", set(bodies)

    def fail(self, how):
        self.how = how

    # --- questions

    def sizes(self):
        return [len(batch) for batch in self.came]

    def bodies(self):
        return [[body for _, body, _ in batch] for batch in self.came]

    def attempts(self):
        return [[(body, attempts) for _, body, attempts in batch] for batch in self.came]

    def queues(self):
        return [[(queue, body, attempts) for queue, body, attempts in batch] for batch in self.came]

    def ids_are_hex(self):
        return all(re.fullmatch("[0-9a-f]{32}", id) for id in self.ids.values())

    def ids_stay(self):
        """Whether a message that went through several queues has one id."""
        return len({id for d in self.emu.deliveries for id, *_ in d.messages}) == len({m[1] for b in self.came for m in b})

    def log(self):
        """What a server would have logged since the last look, bodies for ids."""
        lines, log = [], EventLog()
        log._started = dict.fromkeys(range(1_000), 0)
        for event in self.emu.events[self._logged :]:
            said = log._lines(event, did) if (did := steps(event)) else ()
            lines += [text for _, text, _ in said if text.startswith(("QUEUE", "Dropped", "Moving"))]
        self._logged = len(self.emu.events)
        bodies = {id: body for body, id in self.ids.items()}
        return [re.sub("[0-9a-f]{32}", lambda found: bodies[found[0]], re.sub(r" \(\d+ms\)", "", line)) for line in lines]


def leaves(value):
    """How many single values are compared in an expectation."""
    return sum(map(leaves, value)) if isinstance(value, list | tuple) and value else 1


FIVE = {"max_batch_size": 5, "max_batch_timeout": 1, "max_retries": 2}
ONCE = FIVE | {"max_retries": 0}
LATE = {"delivery_delay": 2, "max_batch_size": 100, "max_batch_timeout": 0}
THREE = [("msg1", 1), ("msg2", 1), ("msg3", 1)]
AGAIN = [("msg1", 2), ("msg2", 2), ("msg3", 2)]


def expect(question, value):
    return ("expect", question, value)


def times(*pairs):
    """Time passes, and so many batches have come."""
    return [step for seconds, sizes in pairs for step in (("advance", seconds), expect("sizes", sizes))]


MINIFLARE = [
    Retold("index", "flushes partial and full batches", {"queue": FIVE}, [
        ("send", "queue", "msg1"), *times((0.5, []), (0.5, [1])), expect("ids_are_hex", True), ("clear",),
        ("batch", "queue", "msg1", "msg2"), *times((0.25, []), (1, [2])), expect("ids_are_hex", True), ("clear",),
        ("send", "queue", "msg1"), ("batch", "queue", "msg2", "msg3"), ("send", "queue", "msg4"), *times((0.1, []), (0.9, [4])),
        ("clear",), ("batch", "queue", *"12345"), *times((0, [5])), ("clear",),
        ("batch", "queue", *"1234567"), *times((0, [5]), (0.5, [5]), (0.5, [5, 2])), ("clear",),
        ("batch", "queue", *"123456"), *times((0, [5])), ("batch", "queue", *"789ab"), *times((0, [5, 5]), (1, [5, 5, 1])),
    ]),
    Retold("index", "producers of every declaration deliver", {"my-queue": FIVE}, [
        ("send", "my-queue", "Hello world!"), ("batch", "my-queue", "Hola mundo!"), ("advance", 1),
        expect("queues", [[("my-queue", "Hello world!", 1), ("my-queue", "Hola mundo!", 1)]]), expect("ids_are_hex", True),
    ]),
    Retold("index", "retries messages: one", {"queue": FIVE}, [
        ("retry", "msg2"), ("batch", "queue", "msg1", "msg2", "msg3"), *times((1, [3])), expect("log", ["QUEUE queue 2/3"]),
        ("retry",), *times((1, [3, 1])), expect("log", ["QUEUE queue 1/1"]), *times((1, [3, 1])),
        expect("attempts", [THREE, [("msg2", 2)]]),
    ]),
    Retold("index", "retries messages: retryAll", {"queue": FIVE}, [
        ("fail", "retryAll"), ("batch", "queue", "msg1", "msg2", "msg3"), *times((1, [3])), expect("log", ["QUEUE queue 0/3"]),
        ("retry",), *times((1, [3, 3])), expect("log", ["QUEUE queue 3/3"]), expect("attempts", [THREE, AGAIN]),
    ]),
    Retold("index", "retries messages: an exception", {"queue": FIVE}, [
        ("fail", "throw"), ("batch", "queue", "msg1", "msg2", "msg3"), *times((1, [3])), expect("log", ["QUEUE queue 0/3"]),
        ("retry",), *times((1, [3, 3])), expect("log", ["QUEUE queue 3/3"]), expect("attempts", [THREE, AGAIN]),
    ]),
    Retold("index", "drops messages after max retries", {"queue": FIVE}, [
        ("fail", "retryAll"), ("batch", "queue", "msg1", "msg2", "msg3"), *times((1, [3])), expect("log", ["QUEUE queue 0/3"]),
        ("retry", "msg3"), *times((1, [3, 3])), expect("log", ["QUEUE queue 2/3"]), *times((1, [3, 3, 1])),
        expect("log", ["QUEUE queue 0/1", 'Dropped message "msg3" on queue "queue" after its last failed attempt!']),
        *times((1, [3, 3, 1])), expect("attempts", [THREE, AGAIN, [("msg3", 3)]]),
    ]),
    Retold("index", "moves to a dead-letter queue, in a circle of two",
           {"bad": ONCE | {"dead_letter_queue": "dlq"}, "dlq": ONCE | {"dead_letter_queue": "bad"}}, [
        ("retry", "msg2", "msg3"), ("batch", "bad", "msg1", "msg2", "msg3"), *times((1, [3])),
        expect("log", ["QUEUE bad 1/3", *(f'Moving message "{m}" on queue "bad" to dead letter queue "dlq"...' for m in ("msg2", "msg3"))]),
        ("retry", "msg2"), *times((1, [3, 2])),
        expect("log", ["QUEUE dlq 1/2", 'Moving message "msg2" on queue "dlq" to dead letter queue "bad"...']),
        ("retry",), *times((1, [3, 2, 1])), expect("log", ["QUEUE bad 1/1"]), expect("ids_stay", True),
        expect("queues", [[("bad", "msg1", 1), ("bad", "msg2", 1), ("bad", "msg3", 1)], [("dlq", "msg2", 1), ("dlq", "msg3", 1)],
                          [("bad", "msg2", 1)]]),
    ]),
    Retold("delay", "send() respects the queue's delay", {"queue": LATE}, [
        ("send", "queue", "default"), *times((1, []), (1, [1])), expect("bodies", [["default"]]),
    ]),
    Retold("delay", "send() respects each message's delay", {"queue": LATE}, [
        *(("delayed", "queue", n, n) for n in range(1, 11)), expect("sizes", []), *times(*((1, [1] * n) for n in range(1, 11))),
        expect("bodies", [[n] for n in range(1, 11)]),
    ]),
    Retold("delay", "sendBatch() respects the queue's delay", {"queue": LATE}, [
        ("batch", "queue", "msg1", "msg2"), *times((1, []), (1, [2])),
    ]),
    Retold("delay", "sendBatch() respects the batch's delay", {"queue": LATE}, [
        ("delayed_batch", "queue", 3, 1, 2), expect("sizes", []), *times((1, []), (1, []), (1, [2])), expect("bodies", [[1, 2]]),
    ]),
    Retold("delay", "sendBatch() respects each message's delay", {"queue": LATE}, [
        ("delayed_batch", "queue", 1, *({"body": 8 + n, "delaySeconds": n} for n in (2, 3, 4))),
        *times((1, []), (1, [1]), (1, [1, 1]), (1, [1, 1, 1])), expect("bodies", [[10], [11], [12]]),
    ]),
    Retold("retry", "respects retry delays", {"queue": {"retry_delay": 5, "max_retries": 2, "max_batch_timeout": 0}}, [
        ("fail", "retryAll"), ("send", "queue", "some-message"), *times((1, [1]), (1, [1]), (5, [1, 1]), (5, [1, 1, 1])),
    ]),
    Retold("retry", "respects max retries", {"queue": {"retry_delay": 5, "max_retries": 2, "max_batch_timeout": 0}}, [
        ("fail", "retryAll"), ("send", "queue", "some-message"), ("advance", 1), ("advance", 1), ("advance", 5), ("advance", 5),
        expect("sizes", [1, 1, 1]), ("advance", 60), expect("sizes", [1, 1, 1]),
        expect("attempts", [[("some-message", n)] for n in (1, 2, 3)]),
    ]),
]  # fmt: skip



def holding_itself():
    value = {"a": 1}
    value["b"] = value
    return value


OCTETS = bytes(range(8))
CLONED = {
    "Object": {"w": 1, "x": 2**70, "y": True, "z": "string"}, "Cyclic": holding_itself(), "Array": [0, 1, [2, 3]],
    "Date": datetime.fromtimestamp(1, UTC), "Map": {1: "a", 2: "b"}, "Set": {"a", "b", "c"}, "RegExp": re.compile("ab?c"),
    "ArrayBuffer": OCTETS, "DataView": memoryview(OCTETS)[2:5], "Uint8Array": memoryview(OCTETS)[1:5],
    **{name: array(code, OCTETS) for name, code in (
        ("Int8Array", "b"), ("Int16Array", "h"), ("Uint16Array", "H"), ("Int32Array", "i"), ("Uint32Array", "I"),
        ("Float32Array", "f"), ("Float64Array", "d"), ("BigInt64Array", "q"), ("BigUint64Array", "Q"),
    )},
    **{name: ClonedError("message", name) for name in (
        "Error", "EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError",
    )},
}  # fmt: skip
"""Python's value for each kind that the test clones; for Uint8ClampedArray it has none."""


def refusal_of(call):
    """The text of a refusal, as a Worker sees it."""
    try:
        call()
    except Refused as refused:
        return str(refused)
    return "not refused"
