"""An emulator from a wrangler file: one environment of it, as the linter reads it, or a refusal with the findings."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from emulator import Emulator, Refused
from tests.emulator.helpers import fates, timeline

BASE = {"name": "svc", "main": "src/index.ts", "compatibility_date": "2026-06-01"}
FILE = BASE | {
    "vars": {"MODE": "test"},
    "queues": {
        "producers": [{"binding": "JOBS", "queue": "jobs", "delivery_delay": 30}],
        "consumers": [{"queue": "jobs", "max_batch_size": 50, "max_retries": 9, "dead_letter_queue": "dead"}],
    },
    "env": {
        "staging": {"queues": {"producers": [{"binding": "OTHER", "queue": "other"}], "consumers": [{"queue": "other"}]}},
        "bare": {},
    },
}


@pytest.fixture
def load(tmp_path):
    """Write a file and make an emulator of it."""

    def load(content, name="wrangler.jsonc", **options):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return Emulator.from_wrangler(path, **options)

    return load


def test_the_top_level_gives_queues_consumers_bindings_and_variables(load):
    emu = load(FILE)
    assert emu.queues == ["dead", "jobs"]
    consumer = emu.queue("jobs").consumer
    assert (consumer["max_batch_size"], consumer["max_batch_timeout"], consumer["max_retries"]) == (50, 5, 9)
    assert emu.env.MODE == "test"
    emu.env.JOBS.send("through the binding")
    assert emu.queue("jobs").bodies() == ["through the binding"]


def test_a_producers_delivery_delay_has_no_effect_as_in_production(load):
    emu = load(FILE)
    assert emu.queue("jobs").settings.delivery_delay == 0


def test_an_environments_block_replaces_the_top_levels(load):
    emu = load(FILE, env="staging")
    assert emu.queues == ["other"]
    assert emu.queue("other").consumer["max_batch_size"] == 10
    with pytest.raises(AttributeError):
        _ = emu.env.JOBS


def test_an_environment_without_queues_inherits_none(load):
    assert load(FILE, env="bare").queues == []


def test_an_environment_that_is_not_there_is_refused(load):
    with pytest.raises(Refused, match="nowhere"):
        load(FILE, env="nowhere")


@pytest.mark.parametrize(
    ("change", "told"),
    [({"consumers": [{"queue": "jobs", "max_retries": 101}]}, "max_retries 101"),
     ({"consumers": [{"queue": "jobs"}, {"queue": "jobs"}]}, "jobs"),
     ({"consumers": [{"queue": "jobs", "type": "http_pull"}]}, "http_pull"),
     ({"consumers": [{"queue": "jobs", "dead_letter_queue": "jobs"}]}, "jobs"),
     ({"consumers": [{"queue": "Bad_Name"}]}, "Bad_Name")],
)  # fmt: skip
def test_a_file_with_errors_is_refused_with_the_findings(load, change, told):
    with pytest.raises(Refused) as refused:
        load(BASE | {"queues": change})
    assert told in str(refused.value)
    assert refused.value.findings
    finding = refused.value.findings[0]
    assert finding.severity == "error"
    assert finding.line == 1
    assert finding.code in str(refused.value)


def test_a_file_with_broken_syntax_is_refused(load):
    with pytest.raises(Refused, match="CFQ"):
        load('{"name": ')


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises((Refused, OSError), match=r"missing\.jsonc"):
        Emulator.from_wrangler(tmp_path / "missing.jsonc")


def test_toml_is_read_as_well(load):
    emu = load(
        'name = "svc"\nmain = "a.ts"\ncompatibility_date = "2026-06-01"\n\n[[queues.consumers]]\nqueue = "jobs"\nmax_batch_timeout = 7\n',
        "wrangler.toml",
    )
    assert emu.queue("jobs").consumer["max_batch_timeout"] == 7


def test_a_comment_in_jsonc_is_no_error(load):
    assert load("// mine\n" + json.dumps(FILE)).queues == ["dead", "jobs"]


def test_the_plan_decides_about_retention(load):
    assert load(FILE, plan="free").queue("jobs").settings.message_retention_period == 86_400


def test_a_consumer_without_a_handler_stores_until_one_is_attached(load):
    emu = load(FILE)
    emu.env.JOBS.send(1)
    emu.advance(100)
    assert fates(emu) == [(1, "waiting")]
    emu.attach(lambda _batch: None, queue="jobs")
    emu.advance(0)
    assert timeline(emu) == [(100, [1], [1])]


def test_one_handler_for_every_consumer(load):
    emu = load(BASE | {"queues": {"consumers": [{"queue": "a", "max_batch_timeout": 0}, {"queue": "b", "max_batch_timeout": 0}]}})

    @emu.attach
    def handle(batch):
        seen.append(batch.queue)

    seen = []
    for name in emu.queues:
        emu.queue(name).send(1)
    emu.advance(0)
    assert seen == ["a", "b"]


@pytest.mark.parametrize(("date", "kind"), [("2024-03-17", "v8"), ("2024-03-18", "json")])
def test_the_compatibility_date_decides_about_the_content_type(load, date, kind):
    emu = load(FILE | {"compatibility_date": date})
    emu.queue("jobs").send({"a": 1})
    emu.env.JOBS.send({"a": 1})
    assert [m.content_type for m in emu.queue("jobs").messages()] == [kind, kind]


@pytest.mark.parametrize(("flags", "state"), [([], "dropped"), (["queue_consumer_no_wait_for_wait_until"], "acked")])
def test_compatibility_flags_come_from_the_file(load, flags, state):
    emu = load(BASE | {"compatibility_flags": flags, "queues": {"consumers": [{"queue": "jobs", "max_retries": 1}]}})

    async def fails():
        raise RuntimeError("rejected")

    emu.attach(lambda _batch, _env, ctx: ctx.waitUntil(fails()), queue="jobs")
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert fates(emu) == [(1, state)]


@pytest.mark.parametrize(
    ("date", "flags", "text"),
    [("2026-03-12", [], "(10204)"), ("2026-03-11", [], "Queue send failed"), ("2026-03-11", ["queue_expose_error_codes"], "(10204)")],
)
def test_a_worker_sees_codes_where_the_flag_says_so(load, date, flags, text):
    emu = load(FILE | {"compatibility_date": date, "compatibility_flags": flags})
    with pytest.raises(Exception, match=r"Queue send failed|10204") as error:
        emu.env.JOBS.send("x" * 128_000)
    assert text in str(error.value)
    assert emu.queue("jobs").bodies() == []


def test_several_files_make_one_account(tmp_path):
    (tmp_path / "api.json").write_text(json.dumps(BASE | {
        "name": "api", "compatibility_date": "2024-01-01", "vars": {"A": 1},
        "queues": {"producers": [{"binding": "OUT", "queue": "jobs"}]},
    }))  # fmt: skip
    jobs = {"producers": [{"binding": "MAIL", "queue": "mail"}], "consumers": [{"queue": "jobs", "max_batch_timeout": 0}]}
    (tmp_path / "jobs.json").write_text(json.dumps(BASE | {"name": "jobs", "queues": jobs}))
    with Emulator.from_wrangler([tmp_path / "api.json", tmp_path / "jobs.json"]) as emu:
        assert emu.queues == ["jobs", "mail"]
        emu.env.OUT.send({"n": 1})
        emu.env.MAIL.send({"n": 2})
        assert [emu.queue(name).messages()[0].content_type for name in emu.queues] == ["v8", "json"]
        emu.attach(lambda batch, env: env.MAIL.send([message.body for message in batch.messages]))
        emu.run_until_idle()
        assert emu.queue("mail").bodies() == [{"n": 2}, [{"n": 1}]]


def test_two_files_may_not_consume_one_queue(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps(BASE | {"name": name, "queues": {"consumers": [{"queue": "jobs"}]}}))
    with pytest.raises(Refused, match=r"queue 'jobs' is consumed by .*a\.json and by .*b\.json: it may have one consumer"):
        Emulator.from_wrangler([tmp_path / "a.json", tmp_path / "b.json"])


def test_a_handler_has_the_stores_and_is_told_of_what_is_not_emulated(load):
    emu = load(FILE | {"kv_namespaces": [{"binding": "KV", "id": "1" * 32}], "d1_databases": [{"binding": "DB", "database_id": "d"}],
                       "ai": {"binding": "AI"}, "queues": {"consumers": [{"queue": "jobs", "max_batch_timeout": 0}]}})

    @emu.attach
    async def handle(batch, env):
        await env.KV.put("k", batch.messages[0].body)
        assert await env.KV.get("k") == "x"
        assert await env.DB.prepare("SELECT 1 AS one").first("one") == 1
        with suppress(Exception):  # as users' code has it
            env.AI.run("m")

    for _ in range(2):
        emu.queue("jobs").send("x")
        emu.run_until_idle()
    assert fates(emu) == [("x", "acked")] * 2, emu.errors
    assert emu.report().warnings == [
        "not emulated: env.AI, a binding of ai (put an object of your own there: emu.env.AI = …)"
    ]
    emu.env.AI = "a fake"
    assert emu.env.AI == "a fake"


CONSUMED = {"queues": {"consumers": [{"queue": "jobs", "max_batch_timeout": 0}]}}
UNWISE = {
    "no retries and no dead-letter queue": ({"queues": {"consumers": [{"queue": "jobs", "max_retries": 0}]}}, {}, "CFQ309"),
    "a retry that outlives the retention": ({"queues": {"consumers": [{"queue": "jobs", "retry_delay": 86_400}]}}, {"plan": "free"}, "CFQ308"),
    "a delay that no deploy sends": ({"queues": {"producers": [{"binding": "A", "queue": "jobs", "delivery_delay": -4}]}}, {}, "CFQ206"),
    "a timeout that no deploy sends": ({"queues": {"consumers": [{"queue": "jobs", "visibility_timeout_ms": 10**9}]}}, {}, "CFQ207"),
    "a key of another place": ({"queues": {"consumers": [{"queue": "jobs", "message_retention_period": 60}]}}, {}, "CFQ108"),
    "a misspelt list": ({"queues": {"consumer": [{"queue": "jobs"}], "producers": [{"binding": "A", "queue": "jobs"}]}}, {}, "CFQ104"),
    "a misspelt key": ({**CONSUMED, "queues_consumers": [{"queue": "other"}]}, {}, "CFQ118"),
    "another environment's consumer": ({**CONSUMED, "env": {"x": CONSUMED}}, {}, "CFQ402"),
    "no environments at all": (CONSUMED, {"env": "staging"}, "no environments, and so no 'staging'"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "options", "told"), UNWISE.values(), ids=UNWISE)
def test_what_is_only_unwise_runs_and_is_told(load, content, options, told):
    emu = load(BASE | content, **options)
    assert emu.queues == ["jobs"]
    [warning] = emu.report().warnings
    assert told in warning


def test_a_message_without_retries_is_dropped_as_in_production(load):
    emu = load(BASE | {"queues": {"consumers": [{"queue": "jobs", "max_retries": 0, "max_batch_timeout": 0}]}})
    emu.attach(lambda batch: batch.retryAll())
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert fates(emu) == [(1, "dropped")]


def test_two_files_of_one_worker_are_one_worker_and_the_later_deploy_holds(tmp_path):
    for name, size in (("a", 1), ("b", 2)):
        queues = {"consumers": [{"queue": "jobs", "max_batch_size": size}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(BASE | {"queues": queues}))
    emu = Emulator.from_wrangler([tmp_path / "a.json", tmp_path / "b.json"])
    assert emu.queue("jobs").consumer["max_batch_size"] == 2


def test_two_files_without_a_name_are_two_workers(tmp_path):
    for name in ("a", "b"):
        content = {key: value for key, value in BASE.items() if key != "name"} | CONSUMED
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    with pytest.raises(Refused, match="may have one consumer"):
        Emulator.from_wrangler([tmp_path / "a.json", tmp_path / "b.json"])
