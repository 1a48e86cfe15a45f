"""Items 1, 2 and 9: how large messages are, how they are sent together, and how many a second."""

from __future__ import annotations

import re

from cfq_lint.checklist.common import declare, declared, in_code
from cfq_lint.checklist.measuring import contradicted, figure, shown
from cfq_lint.checklist.model import CODE, FAIL, NOT_ASKED, PASS, UNKNOWN, Answer, Evidence
from cfq_lint.facts import limits
from cfq_lint.facts.quantities import number
from cfq_lint.facts.record import record, replace
from cfq_lint.model.measured import HOUR_SECONDS
from cfq_lint.worker_code.tree.asking import ANY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.measured import Figure
    from cfq_lint.model.project import Project, Sender, Subject
    from cfq_lint.worker_code.modules.program import Program
    from cfq_lint.worker_code.sending.producing import Sent

_GRAPHQL = "or read max{messageSize} of queueMessageOperationsAdaptiveGroups in Cloudflare's GraphQL API"
_LIKE_A_QUEUE = re.compile(r"queue|producer|binding|^q$|^getattr$", re.IGNORECASE)
_SEND_BATCH = re.compile(r"send_?batch", re.IGNORECASE)
_HANDED_ON = r"(=\s*)?\b(?:\w+\s*\.\s*)*env\s*\??\.\s*{}\b(?![\s!?]*\.\s*(?:send|sendBatch|send_batch|metrics)\b)"
"""A binding that is neither bound to a name, which is followed, nor sent to."""
_DEAD_LETTERS = "only dead letters arrive here; they are as they were in {}"


def message_size(subject: Subject, project: Project) -> Answer:
    """Item 1: a body and its metadata fit into a message."""
    if subject.only_dead_letters:
        return Answer(subject.described, NOT_ASKED, _DEAD_LETTERS.format(", ".join(subject.dead_letters_of)))
    size = subject.load.largest_message_bytes
    seen = figure(subject, project, "largest_message")
    if seen is not None and (size is None or seen.value > size + limits.MESSAGE_METADATA_BYTES):
        return _size_seen(subject, project, seen)
    if size is None:
        said = "how large its messages are is not known"
        return Answer(subject.described, UNKNOWN, said, (), (declare(subject.queue, "message_size_bytes"), _GRAPHQL))
    key = "message_size_bytes" if subject.load.max_message_size_bytes is None else "max_message_size_bytes"
    whole = size + limits.MESSAGE_METADATA_BYTES
    compared = f"{number(size)} + about {limits.MESSAGE_METADATA_BYTES} bytes of metadata = {number(whole)}"
    evidence: tuple[Evidence, ...] = (declared(subject.queue, key, size),)
    evidence += () if seen is None else (shown(seen, project),)
    if whole > limits.MESSAGE_SIZE_BYTES:
        said = f"{compared} > {number(limits.MESSAGE_SIZE_BYTES)} bytes; send() refuses such a message"
        todo = ("put the content elsewhere (R2, KV, D1) and send its key", "or split the message")
        return Answer(subject.described, FAIL, said, evidence, todo)
    return Answer(subject.described, PASS, f"{compared} <= {number(limits.MESSAGE_SIZE_BYTES)} bytes", evidence)


def _size_seen(subject: Subject, project: Project, seen: Figure) -> Answer:
    """Item 1 by what the account has seen, which is larger than what is declared, or all that is known."""
    size, limit = subject.load.largest_message_bytes, limits.MESSAGE_SIZE_BYTES
    evidence: tuple[Evidence, ...] = (shown(seen, project),)
    said = f"the largest message seen has {number(seen.value)} <= {number(limit)} bytes"
    if size is None:
        return Answer(subject.described, PASS, said, evidence)
    key = "message_size_bytes" if subject.load.max_message_size_bytes is None else "max_message_size_bytes"
    told = contradicted(size, seen, project, "the largest seen", "bytes")
    return Answer(subject.described, PASS, f"{said}; {told}", (declared(subject.queue, key, size), *evidence))


def throughput(subject: Subject, project: Project) -> Answer:
    """Item 9: no more messages a second than a queue takes."""
    if subject.only_dead_letters:
        return Answer(subject.described, NOT_ASKED, _DEAD_LETTERS.format(", ".join(subject.dead_letters_of)))
    rate = subject.load.highest_rate_per_second
    most = limits.THROUGHPUT_PER_SECOND
    seen = figure(subject, project, "busiest_hour_rate")
    if seen is not None and (rate is None or seen.value > rate):
        return _rate_seen(subject, project, seen)
    if rate is None:
        said = "how many messages a second are sent is not known"
        todo = (
            declare(subject.queue, "peak_rate_per_second"),
            "or read the count of WriteMessage by minute in queueMessageOperationsAdaptiveGroups of Cloudflare's GraphQL API",
        )
        return Answer(subject.described, UNKNOWN, said, (), todo)
    key = "rate_per_second" if subject.load.peak_rate_per_second is None else "peak_rate_per_second"
    evidence: tuple[Evidence, ...] = (declared(subject.queue, key, rate),)
    evidence += () if seen is None else (shown(seen, project),)
    if rate > most:
        said = f"{number(rate)} > {number(most)} messages a second; send() and sendBatch() throw Too Many Requests"
        return Answer(subject.described, FAIL, said, evidence, ("spread the messages over several queues", "or send less"))
    return Answer(subject.described, PASS, f"{number(rate)} <= {number(most)} messages a second", evidence)


def _rate_seen(subject: Subject, project: Project, seen: Figure) -> Answer:
    """Item 9 by the busiest hour that the account has seen, which is more than is declared, or all that is known."""
    rate, most = subject.load.highest_rate_per_second, limits.THROUGHPUT_PER_SECOND
    evidence: tuple[Evidence, ...] = (shown(seen, project),)
    whole = seen.value * HOUR_SECONDS
    said = f"{number(seen.value)} <= {number(most)} messages a second in the busiest hour seen"
    said += ", even if all of it came in one second" if whole <= most else ", on average of the hour"
    if rate is not None:
        key = "rate_per_second" if subject.load.peak_rate_per_second is None else "peak_rate_per_second"
        evidence = (declared(subject.queue, key, rate), *evidence)
        said += f"; {contradicted(rate, seen, project, 'the busiest hour', 'messages/s')}"
    return Answer(subject.described, PASS, said, evidence)


@record
class _Batches:
    """How many messages one `sendBatch` holds at most, None where it is not known; what says so, and what is in the way."""

    most: int | None
    evidence: tuple[Evidence, ...]
    doubts: tuple[str, ...] = ()


def send_batch(subject: Subject, project: Project) -> Answer:
    """Item 2: one `sendBatch` is within both of its limits."""
    if subject.only_dead_letters:
        return Answer(subject.described, NOT_ASKED, _DEAD_LETTERS.format(", ".join(subject.dead_letters_of)))
    batches = _batches(subject)
    if batches.most is None:
        todo = (*batches.doubts, declare(subject.queue, "send_batch_messages", "message_size_bytes"))
        return Answer(
            subject.described, UNKNOWN, "how many messages one sendBatch() holds is not known", batches.evidence, todo
        )
    if batches.most == 0:
        said = "send() alone is used, one message a call"
        return Answer(subject.described, PASS, said, batches.evidence)
    if batches.most > limits.SEND_BATCH_COUNT_MAX:
        said = f"{batches.most} > {limits.SEND_BATCH_COUNT_MAX} messages in one sendBatch(), which refuses them all"
        todo = (f"send them in parts of at most {limits.SEND_BATCH_COUNT_MAX}",)
        return Answer(subject.described, FAIL, said, batches.evidence, todo)
    return _weighed(subject, project, batches)


def _weighed(subject: Subject, project: Project, batches: _Batches) -> Answer:
    usual, largest, most = subject.load.message_size_bytes, subject.load.largest_message_bytes, batches.most or 0
    seen = figure(subject, project, "largest_message")
    if seen is not None and (largest is None or seen.value > largest + limits.MESSAGE_METADATA_BYTES):
        largest = int(seen.value)
        batches = replace(batches, evidence=(*batches.evidence, shown(seen, project)))
    counted = f"{most} <= {limits.SEND_BATCH_COUNT_MAX} messages in one sendBatch()"
    if largest is None:
        said = f"{counted}; how many bytes that is is not known"
        return Answer(subject.described, UNKNOWN, said, batches.evidence, (declare(subject.queue, "message_size_bytes"),))
    top = number(limits.SEND_BATCH_SIZE_BYTES)
    evidence = batches.evidence
    if usual is not None:
        evidence += (declared(subject.queue, "message_size_bytes", usual),)
    if subject.load.max_message_size_bytes is not None:
        evidence += (declared(subject.queue, "max_message_size_bytes", subject.load.max_message_size_bytes),)
    todo = (f"count bytes as well as messages, and send at most {top} bytes in one sendBatch()",)
    if usual is not None and most * usual > limits.SEND_BATCH_SIZE_BYTES:
        said = f"{counted}, but {most} x {number(usual)} = {number(most * usual)} > {top} bytes, which sendBatch() refuses"
        return Answer(subject.described, FAIL, said, evidence, todo)
    if most * largest > limits.SEND_BATCH_SIZE_BYTES:
        said = f"{counted}; {most} of the largest would be {number(most * largest)} > {top} bytes"
        return Answer(subject.described, UNKNOWN, said, evidence, todo)
    said = f"{counted}, {most} x {number(largest)} = {number(most * largest)} <= {top} bytes"
    return Answer(subject.described, PASS, said, evidence)


def _batches(subject: Subject) -> _Batches:
    said = subject.load.send_batch_messages
    found = [sent for _, sent in sent_to(subject) if sent.is_batch]
    read = tuple(in_code(sent.spot, _described(sent)) for sent in found)
    counts = [sent.most for sent in found if sent.most is not None]
    if counts and max(counts) > limits.SEND_BATCH_COUNT_MAX:
        return _Batches(max(counts), read)
    if said is not None:
        evidence = (declared(subject.queue, "send_batch_messages", said), *read)
        if said == 0 and found:
            return _Batches(None, evidence, ("it is declared that send() alone is used, and the source calls sendBatch()",))
        return _Batches(max([said, *counts]), evidence)
    doubts = unread(subject)
    if found and len(counts) == len(found) and not doubts:
        return _Batches(max(counts), read)
    unseen = [path for sender in subject.senders for path in _batching_unseen(sender.program)]
    singly = [sent for _, sent in sent_to(subject) if not sent.is_batch]
    if singly and not found and not unseen and not doubts:
        entries = tuple(dict.fromkeys(sender.program.entry for sender in subject.senders))
        on_it = f" on {' or '.join(sorted({sent.binding for sent in singly}))}" if _others_are_batched(subject) else ""
        said_of_it = f"calls no sendBatch(){on_it}, nor do the modules that it imports"
        return _Batches(0, tuple(Evidence(CODE, entry, said_of_it) for entry in entries))
    return _Batches(None, read, doubts)


def _described(sent: Sent) -> str:
    return f"sendBatch() of {'an unknown number of' if sent.most is None else f'at most {sent.most}'} messages"


def _batching_unseen(program: Program) -> list[str]:
    """The modules that speak of `sendBatch` more often than they are seen to call it."""
    return [
        path
        for path, module in program.modules.items()
        if len(_SEND_BATCH.findall(module.text)) > sum(sent.is_batch for sent in module.sent)
    ]


def _others_are_batched(subject: Subject) -> bool:
    modules = [module for sender in subject.senders for module in sender.program.modules.values()]
    return any(sent.is_batch for module in modules for sent in module.sent)


def sent_to(subject: Subject) -> list[tuple[str, Sent]]:
    """What the sources in the run send to a queue, by the name of its binding; each with the entry of its Worker."""
    found = []
    for sender in subject.senders:
        binding = sender.producer.binding.text if sender.producer.binding is not None else None
        for module in sender.program.modules.values():
            found += [(sender.program.entry, sent) for sent in module.sent if sent.binding == binding]
    return list(dict.fromkeys(found))


def _handed_on(sender: Sender) -> list[tuple[str, str]]:
    """Where a producer's sources give its binding to somebody else."""
    binding = sender.producer.binding
    name = binding.text if binding is not None else None
    if not name:
        return []
    pattern = re.compile(_HANDED_ON.format(re.escape(name)))
    return [
        (f"{path}:{module.text.count(chr(10), 0, found.start()) + 1}", name)
        for path, module in sender.program.modules.items()
        for found in pattern.finditer(module.text)
        if found[1] is None
    ]


def unread(subject: Subject) -> tuple[str, ...]:
    """What keeps the sources of a queue's producers from being known: advice, a line each; empty where all were read."""
    doubts = []
    if not subject.senders:
        doubts.append(f"no file of the run produces to {subject.queue}: name the producer's file as well")
    for sender in subject.senders:
        program = sender.program
        if program.problem:
            doubts.append(f"{program.problem}: {program.remedy or 'look at it'}, or answer by declaring")
        doubts += [f"{path} cannot be read, and {program.entry} imports it" for path in program.unread]
        sent = [each for module in program.modules.values() for each in module.sent if each.binding not in sender.bindings]
        loose = [each for each in sent if each.is_batch or each.binding == ANY or _LIKE_A_QUEUE.search(each.binding)]
        told = [(each.spot, "env[…]" if each.binding == ANY else repr(each.binding)) for each in loose]
        doubts += [f"{spot} sends to {name}, which may be any queue: look there" for spot, name in told]
        doubts += [
            f"{where} hands env.{name} on, and who gets it may send as well: look there" for where, name in _handed_on(sender)
        ]
    known = {sender.producer.script for sender in subject.senders}
    elsewhere = sorted(set(subject.facts.producers or ()) - known) if subject.facts is not None else []
    if elsewhere:
        doubts.append(
            f"{', '.join(elsewhere)} {'send' if len(elsewhere) > 1 else 'sends'} as well, by the account, and is not in the run"
        )
    return tuple(dict.fromkeys(doubts))
