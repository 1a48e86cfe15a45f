"""Signs: what a file must show before a rule can have anything to say of it. Rules whose sign is missing are not even loaded.

Opening a module costs more than most rules, and most files are clean. A sign is a cheap necessary condition: where it is
missing, the rule finds nothing. A key that has a range is a sign by its name: it holds none of its integers. A property test
holds every rule to its sign, by running all rules on files that lack it.
"""

from __future__ import annotations

from cfq_lint.facts.keys import BOOLEAN, INTEGER, QUEUES_KEYS, STRING, is_generated, is_placeholder, is_queue_name
from cfq_lint.facts.limits import RETRIES_DEFAULT
from cfq_lint.model.topology import sends_v8
from cfq_lint.source.node import ARRAY, DATETIME, OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.wrangler import Consumer, Entry, Environment, Worker

FAULT = "fault"  # the text breaks its grammar
ODD_FILE = "odd-file"  # the file's bytes or its neighbours on disk are odd
NEWER_TOML = "newer-toml"  # the text is TOML 1.1 and not 1.0
MISNAMED = "misnamed"  # a key beside `queues` holds what `queues` would hold
PREVIEWS = "previews"  # there is a table of previews
NO_CODE = "no-code"  # a consumer stands beside no `main`, or one that a framework writes
MORE_BINDINGS = "more-bindings"  # an environment has a binding that the top level lacks
REPEATED_KEY = "repeated-key"  # an object has a key twice
SHAPE = "shape"  # `queues` is no object, one of its lists is no list, or an element is no object
UNKNOWN_LIST = "unknown-list"  # `queues` has a key that is none of its lists
UNKNOWN_KEY = "unknown-key"  # an entry has a key that is none of its keys
WRONG_TYPE = "wrong-type"  # an entry's key holds a value of another type
NO_QUEUE = "no-queue"  # a consumer names no queue
NOT_PUSH = "not-push"  # a consumer has a type, and not the only one that there is
ODD_NAME = "odd-name"  # a queue's name is none that Cloudflare takes, or a placeholder
ODD_BINDING = "odd-binding"  # a producer has no binding, or one that may be no identifier
ID = "id"  # a name has the length of an id
NO_NAME = "no-name"  # a producer names no queue
REPEATED_BINDING = "repeated-binding"  # a binding's name stands in the file more than once
CPU_LIMIT = "cpu-limit"  # there is a limit of CPU time
RETRIES = "retries"  # a consumer retries more often than by default
REPEATED_CONSUMER = "repeated-consumer"  # an environment consumes a queue twice
OWN_DEAD_LETTERS = "own-dead-letters"  # a consumer's dead-letter queue is its own queue
UNCONSUMED_DEAD_LETTERS = "unconsumed-dead-letters"  # a dead-letter queue has no consumer in the file
NO_DEAD_LETTERS = "no-dead-letters"  # a consumer has no dead-letter queue, and its queue is none of the file's
CHAINED_DEAD_LETTERS = "chained-dead-letters"  # a dead-letter queue of the file is consumed and dead-letters on
NO_RETRIES = "no-retries"  # a consumer never retries and has no dead-letter queue
RETRY_DELAY = "retry-delay"  # a consumer has a retry delay
TIMEOUT = "timeout"  # a consumer has a batch timeout and a batch size for which it is odd
CONCURRENCY = "concurrency"  # a consumer's concurrency is capped
CONSUMERS = "consumers"  # there is a consumer
UNCONSUMED = "unconsumed"  # a queue is produced to and not consumed in the file
UNPRODUCED = "unproduced"  # a queue is consumed and not produced to in the file
LOOP = "loop"  # an environment consumes what it produces
FACTS = "facts"  # facts about the account are known
ACCOUNT = "account"  # the account itself is known
SEVERAL_FILES = "several-files"  # the run has more than one file
SOURCE = "source"  # the Worker's source was read
OLD_DATE = "old-date"  # a compatibility date is before that of JSON messages
FLAGS = "flags"  # a compatibility flag about queues stands in the file
PYTHON = "python"  # the Worker is a Python file
ENVIRONMENTS = "environments"  # there are named environments
SELECTED = "selected"  # one environment is asked for
BARE_ENVIRONMENT = "bare-environment"  # an environment has no queues block
FEWER_CONSUMERS = "fewer-consumers"  # an environment has fewer consumers than the top level
LESS_DEAD_LETTERS = "less-dead-letters"  # an environment has a consumer without a dead-letter queue
FEWER_BINDINGS = "fewer-bindings"  # an environment lacks a binding of the top level
SHARED_QUEUE = "shared-queue"  # two environments consume one queue
SHARED_DEAD_LETTERS = "shared-dead-letters"  # two environments dead-letter into one queue
PAGES = "pages"  # it is a Pages project
NO_EFFECT = "no-effect"  # there is a setting that has no effect in a file
LEGACY = "legacy"  # there is a key of service environments
PLAN = "plan"  # it is a plan that makes queues, or replaces what it has
WORK_AFTER_ACK = "work-after-ack"  # a way works on after an acknowledgement; these are of `signs_in_code`
CAUGHT_FAILURE = "caught-failure"  # a failure was caught, and the message is not given back
ACKED_FAILURE = "acked-failure"  # an acknowledgement is reached after a failure
UNAWAITED = "unawaited"  # work is started that the handler does not wait for
ASKS_OF_QUEUE = "asks-of-queue"  # the queue's name is compared
LEFT_LOOP = "left-loop"  # a return stands in a loop over messages
THROWN = "thrown"  # a way throws before the message is settled
WORK_IN_CATCH = "work-in-catch"  # something is awaited while a failure is dealt with
RETRY_ODD = "retry-odd"  # a call of retry is given something other than a delay by its name
RETRY_GROWS = "retry-grows"  # a call of retry is given a delay that may be long
RETRY_PLAIN = "retry-plain"  # a call of retry is given nothing
CHANGED_BODY = "changed-body"  # a body is changed before a retry
FRESH_KEY = "fresh-key"  # work is given what another delivery makes anew
COUNTED_UP = "counted-up"  # work is given what was counted up
UNCHECKED_RESPONSE = "unchecked-response"  # nobody looks at a response's status
STATUS_RANGE = "status-range"  # a response's status is compared with a bound
DEFAULT_ARM = "default-arm"  # there is an arm for messages of a type that has no other
MISSING_SETTING = "missing-setting"  # a condition asks whether a binding is there
SEND_IN_LOOP = "send-in-loop"  # a loop sends one message a turn
UNBOUNDED_BATCH = "unbounded-batch"  # a batch may have any length
NEVER = "never"  # nothing: the engine itself speaks for this rule

_ID_LENGTH = 32
_FEW = 64
_TYPES = {BOOLEAN: bool, INTEGER: int, STRING: str}


def signs_of(worker: Worker) -> set[str]:
    """The signs that a file shows."""
    document = worker.document
    signs = set()
    if document.faults:
        signs.add(FAULT)
    if document.bom or document.encoding_problem or document.shadowed_by or document.redirect:
        signs.add(ODD_FILE)
    if document.tree.newer is not None:
        signs.add(NEWER_TOML)
    if document.tree.repeats:
        signs.add(REPEATED_KEY)
    if worker.selected is not None:
        signs.add(SELECTED)
    if len(worker.every_environment) > 1:
        signs.add(ENVIRONMENTS)
        _look_at_environments(worker, signs)
    if worker.is_pages:
        signs.add(PAGES)
    if "legacy_env" in worker.fields:
        signs.add(LEGACY)
    if document.entry is not None:
        signs.add(SOURCE)
    if "queue_" in document.text or "queues_json" in document.text:
        signs.add(FLAGS)
    if "cpu_ms" in document.text:
        signs.add(CPU_LIMIT)
    if sum(len(environment.producers) for environment in worker.environments) > _FEW:
        signs.add(REPEATED_BINDING)  # to look for each in the text would take longer than the rule
    for environment in worker.environments:
        _look_at(environment, signs)
        _look_at_bindings(environment, signs)
    _look_at_dead_letters(worker, signs)
    for declared in worker.declared:
        _look_at_fields(declared, signs)
    return signs


def _look_at(environment: Environment, signs: set[str]) -> None:
    queues = environment.queues
    if environment.is_previews:
        signs.add(PREVIEWS)
    if environment.misnamed_queues:
        signs.add(MISNAMED)
    if queues is None:
        return
    main = environment.inherited("main")
    if sends_v8(environment):
        signs.add(OLD_DATE)
    if main is not None and (main.text or "").endswith(".py"):
        signs.add(PYTHON)
    if environment.consumers and (main is None or is_generated(main.text or "")):
        signs.add(NO_CODE)
    if queues.kind != OBJECT:
        signs.add(SHAPE)
    for key, listed in queues.fields.items():
        if key not in QUEUES_KEYS:
            signs.add(UNKNOWN_LIST)
        elif listed.kind != ARRAY or any(item.kind != OBJECT for item in listed.items):
            signs.add(SHAPE)
    for consumer in environment.consumers:
        _look_at_fields(consumer, signs)
        if "queue" not in consumer.fields:
            signs.add(NO_QUEUE)
        if not consumer.is_push:
            signs.add(NOT_PUSH)
        signs.add(CONSUMERS)
        _look_at_settings(consumer, signs)
    for producer in environment.producers:
        _look_at_fields(producer, signs)
        binding = producer.binding
        if binding is None or not (binding.text or "").isidentifier():
            signs.add(ODD_BINDING)
        if "queue" not in producer.fields:
            signs.add(NO_NAME)
        if "delivery_delay" in producer.fields or "remote" in producer.fields:
            signs.add(NO_EFFECT)


def _look_at_environments(worker: Worker, signs: set[str]) -> None:
    top, *named = worker.every_environment
    bindings = {producer.binding.node.value for producer in top.producers if producer.binding is not None}
    consumed: set[str] = set()
    dead: set[str] = set()
    for environment in worker.every_environment:
        own = {consumer.queue_name for consumer in environment.consumers}
        own_dead = {each.dead_letter_queue.node.value for each in environment.consumers if each.dead_letter_queue is not None}
        if not own.isdisjoint(consumed):
            signs.add(SHARED_QUEUE)
        if not own_dead.isdisjoint(dead):
            signs.add(SHARED_DEAD_LETTERS)
        consumed |= own
        dead |= own_dead
    for environment in named:
        if environment.queues is None:
            signs.add(BARE_ENVIRONMENT)
        if any(consumer.dead_letter_queue is None for consumer in environment.consumers):
            signs.add(LESS_DEAD_LETTERS)
        if len(environment.consumers) < len(top.consumers):
            signs.add(FEWER_CONSUMERS)
        own_bindings = {producer.binding.node.value for producer in environment.producers if producer.binding is not None}
        if not bindings <= own_bindings:
            signs.add(FEWER_BINDINGS)
        if not own_bindings <= bindings:
            signs.add(MORE_BINDINGS)


def _look_at_settings(consumer: Consumer, signs: set[str]) -> None:
    if "visibility_timeout_ms" in consumer.fields:
        signs.add(NO_EFFECT)
    if "max_concurrency" in consumer.fields:
        signs.add(CONCURRENCY)
    if "retry_delay" in consumer.fields:
        signs.add(RETRY_DELAY)
    retries = consumer.field("max_retries")
    if retries is not None and (retries.integer or 0) > RETRIES_DEFAULT:
        signs.add(RETRIES)
    if retries is not None and retries.integer == 0 and consumer.dead_letter_queue is None:
        signs.add(NO_RETRIES)
    size, timeout = consumer.field("max_batch_size"), consumer.field("max_batch_timeout")
    if size is not None and timeout is not None and (size.integer == 1 or timeout.integer == 0):
        signs.add(TIMEOUT)


def _look_at_dead_letters(worker: Worker, signs: set[str]) -> None:
    environments = []
    consumed: set[str] = set()
    dead: set[str] = set()
    for environment in worker.environments:
        names = [consumer.queue_name for consumer in environment.consumers]
        if len(set(names)) < len(names):
            signs.add(REPEATED_CONSUMER)
        if any(producer.queue_name in names for producer in environment.producers):
            signs.add(LOOP)
        if environment.is_previews:
            continue  # they are the same Worker as the top level and make no links
        environments.append(environment)
        consumed.update(names)
        dead.update(consumer.dead_letter_queue.text or "" for consumer in environment.consumers if consumer.dead_letter_queue)
    if not dead <= consumed:
        signs.add(UNCONSUMED_DEAD_LETTERS)
    produced = {producer.queue_name for environment in environments for producer in environment.producers}
    if not produced <= consumed:
        signs.add(UNCONSUMED)
    if not consumed <= produced:
        signs.add(UNPRODUCED)
    if any(consumer.dead_letter_queue is not None and consumer.queue_name in dead for consumer in worker.consumers()):
        signs.add(CHAINED_DEAD_LETTERS)
    for consumer in worker.consumers():
        if consumer.dead_letter_queue is None and consumer.queue_name not in dead:
            signs.add(NO_DEAD_LETTERS)
        elif consumer.dead_letter_queue is not None and consumer.dead_letter_queue.text == consumer.queue_name:
            signs.add(OWN_DEAD_LETTERS)


def _look_at_fields(entry: Entry, signs: set[str]) -> None:
    keys = entry.keys
    for key, field in entry.fields.items():
        known = keys.get(key)
        value = field.member.node.value
        if known is None:
            signs.add(UNKNOWN_KEY)
        elif known.minimum is not None and known.maximum is not None:
            # bool is an int, but its type is not int; a float goes the long way.
            if not (type(value) is int and known.minimum <= value <= known.maximum):
                signs.add(key)
                if type(value) is not int and type(value) is not float:
                    signs.add(WRONG_TYPE)
        elif key == "queue" or key == "dead_letter_queue":  # noqa: PLR1714 - quicker than a set, and run for every entry
            _look_at_name(field.text, signs)
        elif type(value) is not _TYPES[known.type] or field.member.node.kind == DATETIME:
            signs.add(WRONG_TYPE)


def _look_at_name(name: object, signs: set[str]) -> None:
    if not isinstance(name, str):
        signs.add(WRONG_TYPE)
    elif not is_queue_name(name) or is_placeholder(name):
        signs.add(ODD_NAME)
    elif len(name) == _ID_LENGTH:
        signs.add(ID)


def _look_at_bindings(environment: Environment, signs: set[str]) -> None:
    """A name that is taken twice stands in the text twice, unless an escape hides it."""
    if not environment.producers or REPEATED_BINDING in signs:
        return
    for producer in environment.producers:
        text = producer.document.text
        binding = producer.binding
        if binding is not None and ("\\" in text or binding.text == "ASSETS" or text.count(binding.text or "") > 1):
            signs.add(REPEATED_BINDING)
