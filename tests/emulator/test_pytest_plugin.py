"""The pytest plugin: fixture, marker, option, and a failing test's timeline."""

from __future__ import annotations

import pytest

from tests.emulator.helpers import plugin_options

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester, monkeypatch):
    """Run a test file in a pytest of its own, with warnings as errors and strict markers."""
    import sys

    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))

    def run(source, *options):
        pytester.makepyfile(source)
        return pytester.runpytest_subprocess("--strict-markers", "-W", "error", *plugin_options(), *options)

    return run


WRANGLER = """{
  "name": "svc", "main": "src/index.ts", "compatibility_date": "2026-06-01",
  "queues": {"producers": [{"binding": "JOBS", "queue": "jobs"}], "consumers": [{"queue": "jobs", "max_retries": 1}]},
  "env": {"staging": {"queues": {
    "producers": [{"binding": "JOBS", "queue": "jobs-staging"}],
    "consumers": [{"queue": "jobs-staging", "max_batch_size": 2, "max_batch_timeout": 0, "dead_letter_queue": "dead-staging"}]
  }}}
}
"""


def test_every_test_gets_a_fresh_emulator(run):
    run(
        """
        import pytest

        @pytest.mark.parametrize("n", range(3))
        def test_alone(cf_queues, n):
            assert cf_queues.queues == []
            cf_queues.create_queue("jobs").send(n)
            assert cf_queues.queue("jobs").bodies() == [n]
            assert cf_queues.now.isoformat() == "2026-01-01T00:00:00+00:00"
        """
    ).assert_outcomes(passed=3)


def test_the_marker_sets_the_emulator_up_from_a_wrangler_file(run, pytester):
    (pytester.path / "wrangler.jsonc").write_text(WRANGLER, encoding="utf-8")
    run(
        """
        import pytest

        @pytest.mark.cf_queues(config="wrangler.jsonc", env="staging", plan="free", seed=3)
        def test_staging(cf_queues):
            seen = []
            cf_queues.attach(lambda batch: seen.append([m.body for m in batch.messages]), queue="jobs-staging")
            cf_queues.env.JOBS.send("a")
            cf_queues.env.JOBS.send("b")
            cf_queues.advance(0)
            assert seen == [["a", "b"]]
            assert cf_queues.plan == "free"
            assert cf_queues.seed == 3
            assert "dead-staging" in cf_queues.queues
            assert "jobs" not in cf_queues.queues

        @pytest.mark.cf_queues(config="wrangler.jsonc")
        def test_top_level(cf_queues):
            assert cf_queues.queues == ["jobs"]
            assert cf_queues.queue("jobs").consumer["max_retries"] == 1
        """
    ).assert_outcomes(passed=2)


def test_the_marker_closest_to_the_test_has_the_last_word(run):
    run(
        """
        import pytest

        pytestmark = pytest.mark.cf_queues(plan="free", seed=1)

        def test_module(cf_queues):
            assert (cf_queues.plan, cf_queues.seed) == ("free", 1)

        @pytest.mark.cf_queues(seed=2)
        def test_own(cf_queues):
            assert (cf_queues.plan, cf_queues.seed) == ("free", 2)
        """
    ).assert_outcomes(passed=2)


def test_the_option_seeds_every_test_that_has_no_seed_of_its_own(run):
    source = """
        import pytest

        def test_option(cf_queues):
            assert cf_queues.seed == 41

        @pytest.mark.cf_queues(seed=2)
        def test_marker(cf_queues):
            assert cf_queues.seed == 2
        """
    run(source, "--cf-queues-seed", "41").assert_outcomes(passed=2)
    run(source, "--cf-queues-seed=40").assert_outcomes(passed=1, failed=1)


def test_the_same_seed_makes_the_same_ids(run):
    run(
        """
        import pytest

        SEEN = {}

        @pytest.mark.parametrize("seed", [5, 5, 6])
        def test_ids(seed):
            from emulator import Emulator
            emu = Emulator(seed=seed)
            first = emu.create_queue("jobs").send(1).id
            assert SEEN.setdefault(seed, first) == first
            assert len(set(SEEN.values())) == len(SEEN)
            emu.close()
        """
    ).assert_outcomes(passed=3)


def test_a_failing_test_is_told_what_happened(run):
    result = run(
        """
        def test_fails(cf_queues):
            orders = cf_queues.create_queue("orders")

            def poisoned(batch):
                raise ValueError("cannot read this")

            cf_queues.consume("orders", poisoned, max_batch_timeout=0, max_retries=1, retry_delay=30, dead_letter_queue="orders-dead")
            orders.send({"id": 7})
            cf_queues.run_until_idle()
            assert cf_queues.queue("orders-dead").bodies() == []
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "*cf_queues: what happened, seed 0*",
        "What failed first: batch 1 of orders, at 00:00:00",
        "*ValueError: cannot read this",
        "*.py:5 in poisoned",
        '*its messages: * {"id":7}, attempt 1',
        "when *queue *batch *attempt *what happened *messages",
        '00:00:00 *orders *sent * {"id":7}',
        "00:00:00 *orders *1 *1 *retried, ready in 30 s*",
        "00:00:30 *orders *2 *2 *dead-lettered*",
    ])


def test_a_passing_test_is_told_nothing(run):
    result = run("def test_passes(cf_queues):\n    cf_queues.create_queue('jobs').send(1)")
    result.assert_outcomes(passed=1)
    assert "what happened" not in result.stdout.str()


def test_a_failing_test_without_an_emulator_is_told_nothing(run):
    result = run("def test_fails():\n    assert 0")
    result.assert_outcomes(failed=1)
    assert "what happened" not in result.stdout.str()


def test_a_config_with_errors_fails_the_test_with_the_findings(run, pytester):
    (pytester.path / "wrangler.jsonc").write_text(WRANGLER.replace('"max_retries": 1', '"max_retries": 101'), encoding="utf-8")
    result = run(
        """
        import pytest

        @pytest.mark.cf_queues(config="wrangler.jsonc")
        def test_refused(cf_queues):
            pass
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*max_retries*101*"])


def test_the_plugin_explains_itself(run):
    result = run("", "--help")
    result.stdout.fnmatch_lines(["*--cf-queues-seed*"])
    result = run("", "--markers")
    result.stdout.fnmatch_lines(["*cf_queues*config*env*plan*seed*"])


def test_the_marker_loads_workers_and_answers_what_they_fetch(run, pytester):
    (pytester.path / "wrangler.jsonc").write_text(
        '{"name": "shop", "main": "entry.py", "compatibility_date": "2026-06-01", "compatibility_flags": ["python_workers"],'
        ' "queues": {"consumers": [{"queue": "jobs", "max_batch_timeout": 0}]}}'
    )
    (pytester.path / "entry.py").write_text(
        "from workers import WorkerEntrypoint, fetch\n"
        "class Default(WorkerEntrypoint):\n"
        "    async def queue(self, batch, env, ctx):\n"
        "        for message in batch.messages:\n"
        "            if (await fetch('https://bank.example/')).status != 200:\n"
        "                message.retry(delaySeconds=60)\n"
    )
    run(
        """
        import pytest

        @pytest.mark.cf_queues(worker="wrangler.jsonc", fetch=lambda request: (503, ""), seed=4)
        def test_retries(cf_queues):
            cf_queues.queue("jobs").send(1)
            cf_queues.run_until_idle()
            assert [delivery.at.minute for delivery in cf_queues.deliveries] == [0, 1, 2, 3]
            (shop,) = cf_queues.workers
            assert len(shop.fetches) == 4

        @pytest.mark.cf_queues(worker=["wrangler.jsonc"], fetch=lambda request: "")
        def test_alone(cf_queues):
            assert cf_queues.fates == []
            cf_queues.queue("jobs").send(1)
            cf_queues.run_until_idle()
            assert [fate.state for fate in cf_queues.fates] == ["acked"]
        """
    ).assert_outcomes(passed=2)
    run(
        """
        import pytest

        @pytest.mark.cf_queues(fetch=print)
        def test_without_a_worker(cf_queues):
            pass
        """
    ).assert_outcomes(errors=1)
