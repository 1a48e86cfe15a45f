"""Tests that fail, each for another cause; what they are told is in fixtures/stories. Each takes an emulator and uses it."""


def handler_raises(emu):
    orders = emu.create_queue("orders")

    def charge(batch):
        for message in batch.messages:
            if message.body["total"] < 0:
                raise ValueError(f"order {message.body['id']} has a negative total")

    emu.consume("orders", charge, max_retries=2, dead_letter_queue="orders-dead")
    orders.send_batch([{"body": {"id": n, "total": 12.5 - 5 * n}} for n in range(4)])
    emu.run_until_idle()


def time_was_never_moved(emu):
    emu.create_queue("jobs")
    emu.consume("jobs", lambda _batch: None)
    emu.queue("jobs").send({"id": 1})


def consumer_without_handler(emu):
    emu.create_queue("jobs").send("work")
    emu.consume("jobs", lambda _batch: None)
    emu.account.recover()  # as after from_wrangler(), and after a restart
    emu.run_until_idle()


def every_attempt_retried(emu):
    jobs = emu.create_queue("jobs")

    @emu.consume("jobs", max_retries=3, retry_delay=30)
    def handle(batch):
        for message in batch.messages:
            message.retry() if message.body == "bad" else message.ack()

    jobs.send_batch([{"body": "good"}, {"body": "bad"}])
    emu.run_until_idle()


def message_expired(emu):
    emu.create_queue("jobs", message_retention_period=3600).send("late")
    emu.advance(7200)
    emu.consume("jobs", lambda _batch: None)
    emu.run_until_idle()


def retry_is_still_delayed(emu):
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda batch: batch.retryAll(delaySeconds=600) if batch.messages[0].attempts == 1 else None)
    jobs.send("again")
    emu.advance(60)


def paused_by_its_own_handler(emu):
    jobs = emu.create_queue("jobs")

    def handle(batch):
        batch.messages[0].ack()
        batch.messages[0].retry()
        jobs.pause()

    emu.consume("jobs", handle, max_batch_size=1)
    jobs.send(1)
    jobs.send(2)
    emu.run_until_idle()


def one_of_three_hundred(emu):
    jobs, done = emu.create_queue("jobs"), emu.create_queue("done")

    async def handle(batch, env):
        for message in batch.messages:
            if message.body["n"] == 217:
                raise KeyError("customer")
            await env.DONE.send(message.body)

    emu.consume("jobs", handle, dead_letter_queue="dead", max_batch_timeout=0)
    for n in range(300):
        jobs.send({"n": n})
    emu.run_until_idle()
    assert len(done) != 300


def each_fails_in_its_own_words(emu):
    jobs = emu.create_queue("jobs")

    def handle(batch):
        for message in batch.messages:
            raise LookupError(f"no user {message.body!r} among {1000 + len(batch.messages)}")

    emu.consume("jobs", handle, max_batch_timeout=0, max_batch_size=1, max_retries=1)
    jobs.send_batch([{"body": f"user-{n}"} for n in range(60)])
    emu.run_until_idle()


def lease_lapsed(emu):
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", type="http_pull", max_retries=1)
    jobs.send("work")
    for _ in range(2):
        [_message] = jobs.pull(visibility_timeout_ms=10_000)
        emu.advance(10)


def nothing_is_wrong_with_the_queues(emu):
    emu.create_queue("jobs").send(1)
    emu.consume("jobs", lambda _batch: None)
    emu.run_until_idle()
