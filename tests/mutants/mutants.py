"""The mutants: a file, a text that stands in it exactly once, what takes its place, and what it would do to somebody."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One mistake in the emulator."""

    name: str
    file: str
    old: str
    new: str
    why: str


ENDING = "emulator/core/apply/ending.py"
FRESH = "emulator/core/fresh.py"
INDEX = "emulator/core/index.py"
MODEL = "emulator/core/model.py"
RECORDS = "emulator/engine/ledger/records.py"
STATES = "emulator/engine/ledger/message_states.py"
STEPS = "emulator/engine/ledger/steps.py"
TALLY = "emulator/engine/ledger/tally.py"
CONSUME = "emulator/core/decide/consume.py"
DEADLINES = "emulator/core/decide/deadlines.py"
MACHINE = "emulator/core/machine.py"
MANAGE = "emulator/core/decide/manage.py"
PRODUCE = "emulator/core/decide/produce.py"
PULL = "emulator/core/decide/pull.py"
SENDING = "emulator/core/apply/sending.py"

MUTANTS: tuple[Mutant, ...] = (
    # --- batches
    Mutant(
        "a-full-batch-waits-for-one-more", CONSUME,
        "if standing >= consumer.max_batch_size:", "if standing > consumer.max_batch_size:",
        "a batch of exactly max_batch_size messages would wait for its timeout",
    ),
    Mutant(
        "the-newest-message-starts-the-wait", CONSUME,
        "oldest_us = index.ready[0].ready_us", "oldest_us = index.ready[-1].ready_us",
        "a steady trickle of messages would never be delivered",
    ),
    Mutant(
        "a-paused-queue-delivers", CONSUME,
        ' or consumer.type != "worker" or queue.config.delivery_paused:', ' or consumer.type != "worker":',
        "pausing would stop nothing",
    ),
    Mutant(
        "one-slot-too-many", CONSUME,
        "if len(queue.flights) >= slots(queue, consumer):\n        return None",
        "if len(queue.flights) > slots(queue, consumer):\n        return None",
        "max_concurrency 1 would run two batches beside each other",
    ),
    Mutant(
        "queues-take-turns-out-of-order", MACHINE,
        "heappush(turn if name >= after else state.next_turn, name)", "heappush(turn, name)",
        "at one moment a queue could be served twice before its neighbour",
    ),
    # --- what becomes of a message
    Mutant(
        "one-delivery-too-few", CONSUME,
        "elif message.attempts > self.consumer.max_retries:", "elif message.attempts >= self.consumer.max_retries:",
        "max_retries would count deliveries",
    ),
    Mutant(
        "one-delivery-too-many", CONSUME,
        "elif message.attempts > self.consumer.max_retries:", "elif message.attempts > self.consumer.max_retries + 1:",
        "a message would come once more than allowed",
    ),
    Mutant(
        "ack-all-needs-a-good-end", CONSUME,
        'everything = command.ack_all or (command.outcome == "ok" and not command.retry_all)',
        'everything = command.outcome == "ok" and (command.ack_all or not command.retry_all)',
        "ackAll() would be forgotten when the handler throws",
    ),
    Mutant(
        "acks-are-lost-with-their-batch", CONSUME,
        "if m.id not in retries and (everything or m.id in command.acks)]",
        'if m.id not in retries and (everything or (m.id in command.acks and command.outcome == "ok"))]',
        "acknowledged messages would come back when the batch fails, as the stock simulator has it",
    ),
    Mutant(
        "ack-all-beats-retry", CONSUME,
        "acks = [m for m in messages if m.id not in retries and (everything", "acks = [m for m in messages if (everything",
        "ackAll() would swallow a message's own retry()",
    ),
    Mutant(
        "the-batchs-delay-is-ignored", CONSUME,
        "failed.add(message, command.retry_all_delay_seconds if delay is None else delay)", "failed.add(message, delay)",
        "retryAll({delaySeconds}) would retry at once",
    ),
    Mutant(
        "no-delay-means-the-default", CONSUME,
        "delay = self.consumer.retry_delay if delay_seconds is None else delay_seconds",
        "delay = delay_seconds or self.consumer.retry_delay",
        "an explicit delay of 0 would wait for retry_delay",
    ),
    Mutant(
        "a-returning-message-keeps-its-place", INDEX,
        'message.entry, message.ready_us, message.lease = state.entries, moment_us, ""',
        'message.ready_us, message.lease = moment_us, ""',
        "a retried message would stand before those that were sent meanwhile",
    ),
    Mutant(
        "a-delay-ends-too-late", INDEX,
        "while delayed and delayed[0] <= now_us:", "while delayed and delayed[0] < now_us:",
        "a delayed message would miss the batch of its own moment",
    ),
    # --- what stands in line as it was sent
    Mutant(
        "the-delayed-overtake-what-was-sent-before", INDEX,
        "    index = queue.index  # what stands in line as it was sent stands before them", "    index = queue.opened",
        "a message whose delay is over would leave before those that were ready earlier",
    ),
    Mutant(
        "fresh-messages-overtake-the-returned", FRESH,
        "if opened is not None and (opened.ready or (", "if opened is not None and ((",
        "a retried message would wait until nothing new comes",
    ),
    Mutant(
        "the-rest-of-a-send-comes-again", FRESH,
        "            queue.fresh_start += missing\n", "",
        "where a send fills more than one batch, its first messages would leave twice",
    ),
    Mutant(
        "a-look-forgets-the-delivery", MODEL,
        "message.place, message.attempts, message.tracked = FLYING, 1, False",
        "message.place, message.attempts, message.tracked = FLYING, 0, False",
        "the first delivery would not count where somebody looks at the queue meanwhile",
    ),
    Mutant(
        "fresh-messages-live-for-ever", DEADLINES,
        "moments = [queue.fresh[0].at_us + lifetime_us(queue, dead=False)] if queue.fresh else []", "moments = []",
        "messages that nobody has looked at would not expire at their moment",
    ),
    # --- dead letters
    Mutant(
        "dead-letters-keep-their-age", ENDING,
        "message = Message(id, old.body, old.content_type, old.timestamp_us, at_us, ready_us, state.entries)",
        "message = Message(id, old.body, old.content_type, old.timestamp_us, old.arrived_us, ready_us, state.entries)",
        "retention in the dead-letter queue would not start anew",
    ),
    Mutant(
        "dead-letters-lose-their-timestamp", ENDING,
        "message = Message(id, old.body, old.content_type, old.timestamp_us, at_us, ready_us, state.entries)",
        "message = Message(id, old.body, old.content_type, at_us, at_us, ready_us, state.entries)",
        "nobody could tell when a dead letter was sent",
    ),
    Mutant(
        "dead-letters-skip-the-delay", ENDING,
        "ready_us = at_us + target.config.delivery_delay * SECOND_US", "ready_us = at_us",
        "the dead-letter queue's delivery delay would not apply",
    ),
    Mutant(
        "dead-letters-are-like-others", ENDING,
        "        message.dead = True\n", "",
        "a dead letter that nobody consumes would live as long as any message",
    ),
    Mutant(
        "four-days-even-with-a-consumer", CONSUME,
        "if dead and queue.consumer is None:", "if dead:",
        "a consumer would not keep dead letters from being forgotten",
    ),
    Mutant(
        "four-days-whatever-the-retention", CONSUME,
        "seconds = min(seconds, cloudflare.DEAD_LETTER_UNCONSUMED_SECONDS)", "seconds = cloudflare.DEAD_LETTER_UNCONSUMED_SECONDS",
        "on the Free plan dead letters would outlive the plan's day",
    ),
    Mutant(
        "a-made-dead-letter-queue-is-global", MANAGE,
        "create = commands.CreateQueue(target, jurisdiction=queue.config.jurisdiction)", "create = commands.CreateQueue(target)",
        "dead letters of an EU queue would leave the EU",
    ),
    # --- retention
    Mutant(
        "what-failed-at-the-end-of-its-life-is-retried", CONSUME,
        "        if self._is_over(message):\n", "        if False:\n",
        "a message in flight would outlive its retention",
    ),
    Mutant(
        "messages-expire-in-the-handlers-hands", DEADLINES,
        "gone += [message for message in found if message.place <= DELAYED]", "gone += found",
        "a message could expire while its handler runs",
    ),
    Mutant(
        "the-dead-track-is-forgotten", DEADLINES,
        "for track in (queue.opened.track, queue.opened.dead_track):", "for track in (queue.opened.track,):",
        "dead letters would never wake anybody to expire",
    ),
    # --- leases
    Mutant(
        "a-lapsed-lease-waits", DEADLINES,
        "failed.add(message, 0)", "failed.add(message, None)",
        "a lapsed lease would return after retry_delay, not at once",
    ),
    Mutant(
        "pulls-do-not-count", PULL,
        "attempts = tuple([message.attempts + 1 for message in messages])", "attempts = tuple([message.attempts or 1 for message in messages])",
        "a message that nobody acknowledges would be pulled for ever",
    ),
    Mutant(
        "late-acks-are-refused", PULL,
        "if id in living and id not in done:",
        "if id in living and id not in done and living[id].lease == lease:",
        "an ack that comes after the lease has lapsed would be lost",
    ),
    Mutant(
        "late-retries-are-accepted", PULL,
        "elif message.place != LEASED or message.lease != lease:", "elif message.place != LEASED:",
        "a client whose lease has lapsed could take the message from the next one",
    ),
    Mutant(
        "a-paused-queue-can-be-pulled", PULL,
        "    if queue.config.delivery_paused:\n        raise refusals.DeliveryPaused\n", "",
        "pausing would not stop pull consumers",
    ),
    # --- limits
    Mutant(
        "a-byte-too-strict", PRODUCE,
        "if len(body) > limits.message_size_bytes:", "if len(body) >= limits.message_size_bytes:",
        "a message of exactly 128,000 bytes would be refused",
    ),
    Mutant(
        "a-message-a-second-too-few", PRODUCE,
        "        if excess > 0:\n", "        if excess >= 0:\n",
        "4,999 messages a second would be the limit",
    ),
    Mutant(
        "a-second-is-too-long", PRODUCE,
        "if excess <= 0 or at_us > now_us - SECOND_US:", "if excess <= 0 or at_us >= now_us - SECOND_US:",
        "messages of a whole second ago would still count",
    ),
    Mutant(
        "the-second-never-ends", SENDING,
        "queue.lately -= window.popleft()[1]", "window.popleft()",
        "after 5,000 messages every send would be refused",
    ),
    Mutant(
        "the-backlog-may-run-over", PRODUCE,
        " and queue.backlog_bytes + size_bytes > limits.backlog_size_bytes:", " and queue.backlog_bytes > limits.backlog_size_bytes:",
        "the last send could exceed 25 GB",
    ),
    Mutant(
        "a-batch-without-delay-is-delayed", PRODUCE,
        "default_seconds = queue.config.delivery_delay if command.batch_delay_seconds is None else command.batch_delay_seconds",
        "default_seconds = command.batch_delay_seconds or queue.config.delivery_delay",
        "sendBatch with delaySeconds 0 would wait for the queue's delay",
    ),
    Mutant(
        "the-backlog-never-shrinks", INDEX,
        "    queue.backlog_bytes -= size_bytes\n", "",
        "metrics would count bytes that are gone, and the queue would fill up",
    ),
    Mutant(
        "a-purge-takes-what-is-in-hand", MANAGE,
        "ids = tuple([message.id for message in messages.values() if message.place != FLYING])", "ids = tuple(messages)",
        "a batch could lose its messages while its handler runs",
    ),
    # --- what is told of messages
    Mutant(
        "a-dead-letter-arrives-nowhere", STEPS,
        "if event.dead:\n        found.append(", "if event.dead and not event.acked:\n        found.append(",
        "the fates would lose messages that arrived in a dead-letter queue",
    ),
    Mutant(
        "a-large-dead-letter-becomes-small", TALLY,
        "if self.large and kind not in _MOVING:", "if self.large:",
        "the operations of a large dead letter would be too few",
    ),
    Mutant(
        "a-lost-acknowledgement-is-no-return", TALLY,
        "n[Kind.RETRIED] + n[Kind.LAPSED] + n[Kind.REPEATED]", "n[Kind.RETRIED] + n[Kind.LAPSED]",
        "the report would not count what comes again",
    ),
    Mutant(
        "what-has-changed-is-told-as-it-was", RECORDS,
        "        for entry in sorted(changed):\n", "        for entry in sorted(each for each in changed if each >= len(made)):\n",
        "a fate that was asked for while its message waited would wait for ever",
    ),
    Mutant(
        "a-running-delivery-never-ends", RECORDS,
        "            self._new_batches.add(place)\n", "",
        "a delivery that was asked for while it ran would have no outcome",
    ),
    Mutant(
        "a-report-goes-on", STATES,
        "for number in records.entries[entry] if number < end]", "for number in records.entries[entry]]",
        "a report would tell of what happened after it",
    ),
    Mutant(
        "a-redriven-message-is-a-dead-letter", STATES,
        "arrived, retried = steps[0].kind is Kind.ARRIVED,", "arrived, retried = len(path) > 1,",
        "a message that was sent back would still be said to be in the dead-letter queue",
    ),
)
