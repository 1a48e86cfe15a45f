"""What an account may use up: operations of a day on the Free plan, subrequests of an invocation, pulls and acks of a second."""

from __future__ import annotations

import asyncio

import pytest

from emulator import Emulator, Refused
from tests.emulator.helpers import fates


def refused(call, *given, **named):
    with pytest.raises(Refused) as error:
        call(*given, **named)
    return error.value.code, error.value.name, error.value.status


FREE = (10253, "FreeTierLimitExceeded", 429)


def fill(queue, count, emu):
    for start in range(0, count, 100):
        queue.send_batch([{"body": 1}] * min(100, count - start))
        emu.advance(0.02)


def test_the_free_plan_has_ten_thousand_operations_a_day_and_starts_anew_at_midnight():
    emu = Emulator("free", start="2026-01-01T12:00:00Z")
    jobs, other = emu.create_queue("jobs"), emu.create_queue("other")
    fill(jobs, 9_999, emu)
    other.send(1)
    assert refused(other.send, 2) == FREE
    emu.delete_queue("jobs")
    assert refused(emu.env.OTHER.send, 2) == FREE
    assert len(other) == 1
    emu.advance_to("2026-01-01T23:59:59.999999Z")
    assert refused(other.send, 2) == FREE
    emu.advance_to("2026-01-02T00:00:00Z")
    other.send(2)
    assert Emulator("paid").create_queue("jobs").send(1)


def test_each_write_read_and_delete_counts_as_it_is_billed():
    emu = Emulator("free")
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda _batch: None, max_batch_size=100, max_batch_timeout=0)
    fill(jobs, 3_333, emu)
    emu.run_until_idle()
    assert sum(done.total for done in emu.report().operations.values()) == 9_999
    jobs.send(1)
    emu.run_until_idle()
    assert fates(emu)[-1] == (1, "acked"), "a delivery is not refused"
    assert refused(jobs.send, 1) == FREE
    large = Emulator("free").create_queue("large")
    large.send_batch([{"body": "x" * 70_000}] * 3)
    assert large._account._day.used == 0, "counted when it is asked for"
    large.send(1)
    assert large._account._day.used == 6


def test_an_empty_pull_is_an_operation_and_pulls_are_refused_as_well():
    emu = Emulator("free")
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", type="http_pull")
    fill(jobs, 9_998, emu)
    emu.queue("jobs").purge()  # one operation
    assert jobs.pull() == []
    assert refused(jobs.pull) == FREE


def test_the_count_goes_on_after_a_restart(tmp_path):
    with Emulator("free", journal=tmp_path / "journal.db") as emu:
        fill(emu.create_queue("jobs"), 10_000, emu)
    with Emulator("free", journal=tmp_path / "journal.db") as emu:
        assert refused(emu.queue("jobs").send, 1) == FREE


def test_relaxed_limits_have_no_such_bounds():
    emu = Emulator("free", limits="relaxed")
    jobs = emu.create_queue("jobs")
    for _ in range(101):
        jobs.send_batch([{"body": 1}] * 100)
    emu.create_queue("out")
    emu.consume("jobs", lambda batch, env: [env.OUT.send(m.body) for m in batch.messages], max_batch_size=100, max_batch_timeout=0)
    emu.run_until_idle()
    assert len(emu.queue("out")) == 10_100


@pytest.mark.parametrize(("plan", "most"), [("free", 50), ("paid", 10_000)])
def test_an_invocation_has_so_many_subrequests(plan, most):
    emu = Emulator(plan, limits=Emulator().account.limits._replace(throughput_per_second=None, free_operations_per_day=None))
    emu.create_queue("out")
    emu.create_queue("jobs").send_batch([{"body": most}, {"body": most + 1}])

    def handle(batch, env):
        for _ in range(batch.messages[0].body):
            env.OUT.metrics()

    emu.consume("jobs", handle, max_batch_size=1, max_retries=0, max_batch_timeout=0)
    emu.run_until_idle()
    assert [d.outcome for d in emu.deliveries] == ["ok", "exception"]
    assert emu.deliveries[1].error == "TooManySubrequests: Too many subrequests by single Worker invocation."


WORKER = """
from workers import WorkerEntrypoint, Response

class Default(WorkerEntrypoint):
    async def fetch(self, request, env=None, ctx=None):
        for n in range(int(request.url.rpartition("/")[2])):
            await self.env.KV.get(str(n))
        return Response("done")
"""


def test_a_request_has_as_many(tmp_path):
    (tmp_path / "worker.py").write_text(WORKER)
    worker = Emulator("free").worker(tmp_path / "worker.py", kv=["KV"])
    for _ in range(2):
        assert asyncio.run(worker.fetch("/50")).status == 200
    with pytest.raises(RuntimeError, match="Too many subrequests"):
        asyncio.run(worker.fetch("/51"))


def test_five_thousand_pulls_and_five_thousand_acks_a_second_and_no_more():
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", type="http_pull")
    fill(jobs, 5_200, emu)
    leases = [message.lease_id for _ in range(50) for message in jobs.pull(batch_size=100)]
    assert refused(jobs.pull) == (10250, "QueueOverloaded", 429)
    jobs.ack(acks=leases[:4_900])
    assert refused(jobs.ack, acks=leases[4_900:], retries=["x"])[0] == 10250
    jobs.ack(acks=leases[4_900:])
    emu.create_queue("empty")
    emu.consume("empty", type="http_pull")
    fill(emu.queue("empty"), 5_000, emu)
    while emu.queue("empty").pull(batch_size=100):
        pass  # which ends: an empty pull moves nothing
    emu.advance(1)
    assert len(jobs.pull(batch_size=100)) == 100
    assert len(jobs) == 200


def test_the_report_tells_the_most_batches_that_were_out_at_once():
    emu = Emulator()
    for name, slots in (("wide", 4), ("narrow", 1), ("idle", 3)):
        emu.create_queue(name)

        async def handle(_batch):
            await asyncio.sleep(60)

        emu.consume(name, handle, max_concurrency=slots, max_batch_size=1, max_batch_timeout=0)
    for _ in range(10):
        emu.queue("wide").send(1)
        emu.queue("narrow").send(1)
    emu.run_until_idle()
    assert emu.report().concurrency == {"wide": 4, "narrow": 1}
    assert emu.report().as_dict()["concurrency"] == {"wide": 4, "narrow": 1}
    assert "Batches out at once" in str(emu.report())
