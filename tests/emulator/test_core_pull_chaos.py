"""Pull consumers meet chaos too: any order, and acknowledgements that get lost, but nothing lost and nothing invented."""

from __future__ import annotations

from emulator import Emulator, Faults


def run(seed: int) -> tuple:
    """Pull and acknowledge everything; what was seen, and the counts."""
    emu = Emulator(seed=seed, faults=Faults(duplicates=0.5, reorder=1))
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", type="http_pull", max_retries=2, dead_letter_queue="dead")
    jobs.send_batch([{"body": n} for n in range(20)])
    seen = []
    for _ in range(40):
        got = jobs.pull(5, visibility_timeout_ms=1000)
        seen += [(m.value, m.attempts) for m in got]
        assert jobs.ack(acks=[m.lease_id for m in got]).ack_count == len(got)
        emu.advance(1)
    emu.close()
    return seen, emu.report()["jobs"]


def test_every_message_comes_in_the_end_is_acknowledged_and_never_dead_lettered():
    for seed in range(5):
        seen, counts = run(seed)
        assert counts.acked == counts.sent == 20
        assert {body for body, _ in seen} == set(range(20))
        assert max(attempts for _, attempts in seen) <= 3


def test_there_are_duplicates_and_the_order_is_shuffled_but_the_same_for_the_same_seed():
    seen, _ = run(1)
    assert len(seen) > 20
    assert [body for body, _ in seen[:20]] != list(range(20))
    assert run(1) == run(1)
    assert run(1)[0] != run(2)[0]
