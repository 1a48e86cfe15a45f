"""What people's repositories taught: layouts that are legal and were blamed, and mistakes that were passed over. Retold, never copied."""

from __future__ import annotations

import pytest

from cfq_lint import lint_paths
from cfq_lint.model.finding import Severity

from .support import document_of, findings_of, lint_files, run, settled

HANDLER = "export default { async queue(batch) { batch.ackAll(); } };\n"
FETCH = 'export default { async fetch() { return new Response(""); } };\n'


def worker(name="shop", queue="mails", *, main="src/index.js", dlq=True, more=""):
    """A Worker that consumes a queue, as JSON."""
    dead = f', "dead_letter_queue": "{queue}-dlq"' if dlq else ""
    named = f'"name": "{name}", ' if name else ""
    return f'{{ {named}"main": "{main}",\n  "queues": {{ "consumers": [{{ "queue": "{queue}"{dead} }}] }}{more} }}\n'


def said(folder, files, **options):
    """What is said above info: severity, rule, file and line, in order."""
    (folder / ".git").mkdir(exist_ok=True)
    report = lint_files(folder, files, **options)
    assert not report.problems
    start = f"{folder.as_posix()}/"
    return [
        (f.severity.value[0].upper(), f.name, f.path.removeprefix(start), f.line)
        for f in report.findings
        if f.severity is not Severity.INFO
    ]


def infos(report):
    return [f.name for f in report.findings if f.severity is Severity.INFO]


TWO = [("E", "queue-consumed-by-two-workers")]
MONOREPO = {"a/wrangler.jsonc": worker("a"), "b/wrangler.jsonc": worker("b")}
STAGING = ',\n  "env": { "staging": { "name": "%s", "queues": { "consumers": [{ "queue": "mails", "dead_letter_queue": "mails-dlq" }] } } }'

# --- one queue, two files: only Workers that are deployed beside each other conflict


@pytest.mark.parametrize(
    ("files", "conflicts"),
    [
        (MONOREPO, ["b/wrangler.jsonc"]),
        ({"wrangler.jsonc": worker(), "wrangler.staging.jsonc": worker("shop-staging")}, ["wrangler.staging.jsonc"]),
        ({"a/wrangler.jsonc": worker(""), "b/wrangler.jsonc": worker("")}, ["b/wrangler.jsonc"]),
        ({**MONOREPO, "c/wrangler.jsonc": worker("c")}, ["b/wrangler.jsonc", "c/wrangler.jsonc"]),
        ({"wrangler.jsonc": worker(), "wrangler.local.jsonc": worker()}, []),
        ({"wrangler.jsonc": worker(), "wrangler.local.jsonc": worker("shop-local")}, []),
        ({"wrangler.jsonc": worker(), "wrangler.test.jsonc": worker("shop-test", main="test/worker.js")}, []),
        ({"wrangler.jsonc": worker(), "wrangler.example.jsonc": worker("my-worker")}, []),
        ({"wrangler.jsonc": worker(), "wrangler.template.jsonc": worker("{{name}}")}, []),
        ({"wrangler.jsonc": worker(), "deploy/wrangler.jsonc": worker("${WORKER}")}, []),
        ({"wrangler.jsonc": worker(), "dist/wrangler.json": worker("shop")}, []),
        ({"wrangler.jsonc": worker(), "out/server/wrangler.json": worker("shop-production")}, []),
        ({"wrangler.jsonc": worker(), "web/wrangler.json": worker("shop-x", more=', "topLevelName": "shop"')}, []),
        ({"wrangler.jsonc": worker(), "e2e/wrangler.jsonc": worker("e2e")}, []),
        ({"examples/a/wrangler.jsonc": worker("a"), "examples/b/wrangler.jsonc": worker("b")}, []),
        ({"wrangler.jsonc": worker("shop", more=STAGING % "shop-eu"), "wrangler.eu.jsonc": worker("shop-eu", "orders")}, []),
        ({"wrangler.jsonc": worker("shop"), "wrangler.production.jsonc": worker("shop")}, []),
        ({"wrangler.jsonc": worker("shop", "q1", more=STAGING % "shop-eu"), "wrangler.eu.jsonc": worker("shop-eu")}, []),
    ],
)
def test_two_files_consume_one_queue(files, conflicts, tmp_path):
    (tmp_path / ".git").mkdir()
    report = lint_files(tmp_path, files, select=["queue-consumed-by-two-workers"])
    assert [f.path.removeprefix(f"{tmp_path.as_posix()}/") for f in report.findings] == conflicts
    assert all("if both Workers are deployed" in f.message and "11004" in f.message for f in report.findings)


@pytest.mark.parametrize(
    ("top", "environment", "conflicts"), [("shop", "shop", False), ("shop", "shop-eu", True), ("", "", True), ("shop", "", True), ("", "shop", True)]
)
def test_an_environment_of_the_same_worker_is_no_second_consumer(top, environment, conflicts, tmp_path):
    own = STAGING % environment if environment else STAGING.replace('"name": "%s", ', "")
    found = said(tmp_path, {"wrangler.jsonc": worker(top, more=own), "src/index.js": HANDLER})
    assert [name for _, name, _, _ in found] == ["queue-consumed-by-two-environments"] * conflicts


# --- what else was blamed


@pytest.mark.parametrize(
    ("files", "options", "expected"),
    [
        # A pull consumer cannot stand beside a Worker's.
        ({"wrangler.toml": 'name = "m"\ncompatibility_date = "2023-10-01"\n[[queues.producers]]\nbinding = "M"\nqueue = "m"\n[[queues.consumers]]\nqueue = "m"\ndead_letter_queue = "d"\n'}, {}, []),
        (
            {
                "a/wrangler.toml": 'name = "m"\ncompatibility_date = "2023-10-01"\n[[queues.producers]]\nbinding = "M"\nqueue = "m"\n',
                "b/wrangler.toml": 'name = "n"\n[[queues.consumers]]\nqueue = "m"\ndead_letter_queue = "d"\n',
            },
            {},
            [],
        ),
        (
            {"wrangler.toml": 'name = "m"\ncompatibility_date = "2023-10-01"\n[[queues.producers]]\nbinding = "M"\nqueue = "m"\n'},
            {},
            [("W", "v8-content-type-default", "wrangler.toml", 2)],
        ),
        # One finding where two rules say the same.
        (
            {"wrangler.toml": '[[queues.consumers]]\nqueue = "tx"\ndead_letter_queue = "tx-dlq"\n[[env.staging.queues.consumers]]\nqueue = "tx-staging"\n'},
            {},
            [("W", "env-dlq-missing", "wrangler.toml", 5)],
        ),
        ({"wrangler.toml": '[[queues.consumers]]\nqueue = "tx"\nmax_retries = 0\n'}, {}, [("E", "no-retries-no-dlq", "wrangler.toml", 3)]),
        # A queue that calls itself a dead-letter queue.
        ({"wrangler.toml": '[[queues.consumers]]\nqueue = "tx-dlq"\n'}, {}, []),
        ({"wrangler.toml": '[[queues.consumers]]\nqueue = "tx-dead-letters"\nmax_retries = 0\n'}, {}, []),
        ({"wrangler.toml": '[[queues.consumers]]\nqueue = "dlqs-of-mine"\n'}, {}, []),
        ({"wrangler.toml": '[[queues.consumers]]\nqueue = "landlq"\n'}, {}, [("W", "consumer-without-dlq", "wrangler.toml", 2)]),
        # An environment is asked for, of a Worker without queues.
        ({"wrangler.toml": 'name = "site"\n'}, {"env": "staging"}, []),
        ({"wrangler.toml": 'name = "site"\n[env.production]\n'}, {"env": "staging"}, []),
        ({"wrangler.toml": '[[queues.producers]]\nbinding = "A"\nqueue = "a"\n'}, {"env": "staging"}, [("W", "env-missing-in-file", "wrangler.toml", 1)]),
        # Files that have nothing to do with queues.
        ({"wrangler.jsonc": '{ "name": "root" }', "site/wrangler.toml": 'name = "site"\n'}, {}, []),
        # A test's Worker need not handle what it only sends.
        (
            {"wrangler.test.jsonc": worker("shop-test", main="test/worker.js"), "test/worker.js": FETCH},
            {},
            [],
        ),
        ({"wrangler.example.toml": '[[queues.producers]]\nbinding = "A"\nqueue = "<your queue>"\n'}, {}, []),
        ({"wrangler.toml": 'name = "<your worker>"\n[[queues.producers]]\nbinding = "A"\nqueue = "<your queue>"\n'}, {}, [("W", "queue-name-placeholder", "wrangler.toml", 4)]),
        # TOML 1.1.
        (
            {"wrangler.toml": 'queues = {\n  consumers = [\n    {\n      queue = "a",\n      max_retries = 500,\n      dead_letter_queue = "b",\n    },\n  ],\n}\n'},
            {},
            [("E", "max-retries-range", "wrangler.toml", 5)],
        ),
    ],
)  # fmt: skip
def test_what_is_legal_is_not_blamed(files, options, expected, tmp_path):
    assert said(tmp_path, files, **options) == expected


# --- what was passed over


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("wrangler.toml", '[[queue.consumers]]\nqueue = "a"\n', [("E", "queues-key-misnamed", 1)]),
        ("wrangler.toml", '[[queues_producers]]\nbinding = "A"\nqueue = "a"\n\n[[queues_consumers]]\nqueue = "a"\n', [("E", "queues-key-misnamed", 1), ("E", "queues-key-misnamed", 5)]),
        ("wrangler.toml", '[[queue]]\nbinding = "A"\nqueue = "a"\n', [("E", "queues-key-misnamed", 1)]),
        ("wrangler.toml", '[[env.x.queue.producers]]\nbinding = "A"\nqueue = "a"\n', [("E", "queues-key-misnamed", 1)]),
        ("wrangler.toml", '[[consumers]]\nqueue = "a"\n', [("E", "queues-key-misnamed", 1)]),
        ("wrangler.jsonc", '{ "Queues": { "producers": [] } }', [("E", "queues-key-misnamed", 1)]),
        ("wrangler.jsonc", '{ "queus": { "consumers": [] } }', [("E", "queues-key-misnamed", 1)]),
        ("wrangler.jsonc", '{ "queues.producers": [{ "binding": "A", "queue": "a" }] }', [("E", "queues-key-misnamed", 1)]),
        ("wrangler.jsonc", '{ "queueConsumers": [{ "queue": "a" }] }', [("E", "queues-key-misnamed", 1)]),
        ("wrangler.jsonc", '{ "previews": { "queue": { "producers": [{ "binding": "A", "queue": "a" }] } } }', [("E", "queues-key-misnamed", 1)]),
        ("wrangler.jsonc", '{ "vars": { "queue": { "producers": [] } }, "queue": "a", "queue_names": ["a"], "quotas": {} }', []),
        (
            "wrangler.jsonc",
            '{ "queues": { "producers": [{ "binding": "A", "queue": "a" }] },\n  "env": { "x": {\n    "queue": { "producers": [] } } } }',
            [("E", "queues-key-misnamed", 3)],
        ),
        (
            "wrangler.jsonc",
            '{ "queues": { "consumers": [{ "queue": "a", "dead_letter_queue": "b" }] },\n  "previews": { "queues": {\n    "consumers": [{ "queue": "a", "max_retries": 500, "max_retrys": 1 }] } } }',
            [("W", "preview-consumers-ignored", 3), ("W", "unknown-consumer-key", 3)],
        ),
        (
            "wrangler.jsonc",
            '{ "queues": { "producers": [{ "binding": "A", "queue": "a" }, { "binding": "B", "queue": "b" }] },\n  "previews": { "queues": { "producers": [{ "binding": "B", "queue": "b2" }] } } }',
            [("W", "preview-producer-missing", 2)],
        ),
        ("wrangler.jsonc", '{ "queues": { "producers": [{ "binding": "A", "queue": "a" }] },\n  "previews": {} }', [("W", "preview-producer-missing", 2)]),
        ("wrangler.jsonc", '{ "queues": { "producers": [{ "binding": "A", "queue": "a" }] },\n  "previews": { "queues": {} } }', []),
        ("wrangler.jsonc", worker(main=".open-next/worker.js"), [("W", "generated-entry-no-handler", 1)]),
        ("wrangler.jsonc", worker(main="./.svelte-kit/cloudflare/_worker.js"), [("W", "generated-entry-no-handler", 1)]),
        ("wrangler.jsonc", worker(main=".output/server/index.mjs"), []),
        ("wrangler.jsonc", '{ "assets": { "directory": "./public" },\n  "queues": { "consumers": [{ "queue": "a", "dead_letter_queue": "b" }] } }', [("E", "queue-handler-missing", 2)]),
        ("wrangler.jsonc", '{ "assets": { "directory": "./public" }, "queues": { "producers": [{ "binding": "A", "queue": "a" }] } }', []),
        ("wrangler.jsonc", '{ "queues": { "consumers": [{ "queue": "a", "dead_letter_queue": "b" }] } }', []),
        (
            "wrangler.toml",
            '[[queues.producers]]\nbinding = "A"\nqueue = "a"\n\nname = "shop"\ncompatibility_date = "2026-01-01"\n',
            [("W", "unknown-producer-key", 5), ("W", "unknown-producer-key", 6)],
        ),
        ("wrangler.toml", '[[queues.producers]]\nbinding = "A"\nname = "shop"\n', [("W", "unknown-producer-key", 3)]),
        ("wrangler.toml", 'name = "shop"\n[[queues.producers]]\nbinding = "A"\nname = "a"\n', [("E", "queue-key-misnamed", 4)]),
        ("wrangler.toml", '[[queues.consumers]]\nqueue = "a"\ndead_letter_queue = "b"\nbinding = "A"\n', [("W", "unknown-consumer-key", 4)]),
    ],
)  # fmt: skip
def test_what_is_broken_is_not_passed_over(name, text, expected, tmp_path):
    assert said(tmp_path, {name: text}) == [(severity, rule, name, line) for severity, rule, line in expected]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[queues.producers]]\nbinding = "A"\nqueue = "a"\nmain = "a.js"\n', "'main' stands below `[[queues.producers]]` and so belongs to that table, where it means nothing; move it above the first table"),
        ('[[queues.consumers]]\nqueue = "a"\nbinding = "A"\n', "bindings belong to producers"),
        ('[[queues.producers]]\nbinding = "A"\nqueue = "a"\nmax_batch_size = 5\n', "it is a setting of consumers"),
        ('[[queues_consumer]]\nqueue = "a"\n', "did you mean `queues.consumers`?"),
        ('[[queue]]\nqueue = "a"\nbinding = "A"\n', "did you mean `queues.producers`?"),
        ("[queue]\nproducers = []\n", "did you mean `queues`?"),
    ],
)  # fmt: skip
def test_messages_say_what_to_do(text, words, tmp_path):
    report = lint_files(tmp_path, {"wrangler.toml": text})
    assert words in " ".join(f.message for f in report.findings)


def test_a_binding_of_an_environment_that_production_lacks(tmp_path):
    text = """{ "queues": { "producers": [{ "binding": "A", "queue": "a" }] },
  "env": { "%s": { "queues": { "producers": [{ "binding": "A", "queue": "a2" }, { "binding": "B", "queue": "b" }] } } } }"""
    for name, count in [("dev", 1), ("staging", 1), ("production", 0), ("Prod", 0)]:
        report = lint_files(tmp_path, {"wrangler.jsonc": text % name}, select=["env-producer-only-here"])
        assert [f.severity.value for f in report.findings] == ["info"] * count
    assert not lint_files(tmp_path, {"wrangler.jsonc": (text % "dev").replace('"queues": { "producers": [{ "binding": "A", "queue": "a" }] },', "")}, select=["env-producer-only-here"]).findings


@pytest.mark.parametrize(
    ("queue", "known", "right"),
    [("ordres", ["orders"], "orders"), ("orders", ["orders"], None), ("mails", ["orders"], None), ("orders-2", ["orders-1"], None)],
)
def test_with_known_queues_a_misspelt_producer_would_create_one(queue, known, right, tmp_path):
    text = f'{{ "queues": {{ "producers": [{{ "binding": "A", "queue": "{queue}" }}] }} }}'
    report = lint_files(tmp_path, {"wrangler.jsonc": text}, known_queues=known, select=["queue-name-near-miss", "queue-without-consumer"])
    found = [(f.name, f.severity.value) for f in report.findings]
    if right is None:
        assert found == [("queue-without-consumer", "info")]
    else:
        assert found == [("queue-name-near-miss", "warning")]
        assert f"a deploy would create it; did you mean {right!r}?" in report.findings[0].message


# --- repairs


@pytest.mark.parametrize(
    ("name", "text", "mended"),
    [
        ("wrangler.toml", '[[queue.consumers]]\nqueue = "a"\n\n[[queue.consumers]] # c\nqueue = "b"\n', '[[queues.consumers]]\nqueue = "a"\n\n[[queues.consumers]] # c\nqueue = "b"\n'),
        ("wrangler.toml", '[[queues_producers]]\nbinding = "A"\n[[queues_consumers]]\nqueue = "a"\n', '[[queues.producers]]\nbinding = "A"\n[[queues.consumers]]\nqueue = "a"\n'),
        ("wrangler.toml", '[queue]\nproducers = [{ binding = "A" }]\n', '[queues]\nproducers = [{ binding = "A" }]\n'),
        ("wrangler.toml", '[[env.x.queue.consumers]]\nqueue = "a"\n', '[[env.x.queues.consumers]]\nqueue = "a"\n'),
        ("wrangler.jsonc", '{ "queue": { "producers": [] } } // c', '{ "queues": { "producers": [] } } // c'),
        ("wrangler.jsonc", '{ "queue": { "producers": [] }, "queues": {} }', '{ "queue": { "producers": [] }, "queues": {} }'),
        (
            "wrangler.toml",
            'main = "a.js"\n\n[[queues.producers]]\nbinding = "A"\nqueue = "a"\n\nname = "shop" # c\nworkers_dev = true\n',
            'main = "a.js"\n\nname = "shop"\nworkers_dev = true\n[[queues.producers]]\nbinding = "A"\nqueue = "a"\n\n# c\n',
        ),
        (
            "wrangler.jsonc",
            '{ "previews": { "queues": { "producers": [], "consumers": [{ "queue": "a" }] } } }',
            '{ "previews": { "queues": { "producers": []} } }',
        ),
        ("wrangler.toml", '[[previews.queues.consumers]]\nqueue = "a"\n[[previews.queues.consumers]]\nqueue = "b"\n', ""),
        ("wrangler.jsonc", '{ "previews": { "queues": { "consumers": [ /* why */ { "queue": "a" }] } } }', '{ "previews": { "queues": { "consumers": [ /* why */ { "queue": "a" }] } } }'),
    ],
)  # fmt: skip
def test_the_fix_of_what_was_passed_over(name, text, mended):
    rules = ["queues-key-misnamed", "unknown-producer-key", "preview-consumers-ignored"]
    from cfq_lint import lint_text

    after, _ = settled(text, name, lambda each: lint_text(each, name, select=rules).findings)
    assert after == mended
    assert not document_of(after, name).faults


# --- quiet


def test_infos_are_one_line_each_below_the_rest(tmp_path):
    (tmp_path / "wrangler.jsonc").write_text('{ "queues": { "producers": [{ "binding": "A", "queue": "a" }], "consumers": [{ "queue": "b" }] } }', encoding="utf-8")
    text = run("check", cwd=tmp_path).stdout.decode()
    blocks = text.split("\n\n")
    assert "CFQ301" in blocks[0]
    assert blocks[1] == "wrangler.jsonc:1:56: info CFQ404 queue-without-consumer: nobody in this run consumes 'a'; what is not consumed is deleted after 4 days (the default)"
    assert findings_of(run("check", "--format", "json", cwd=tmp_path))[0]["name"] == "queue-without-consumer", "machines get them in order"


def test_toml_1_1_is_told_once_where_queues_are_concerned(tmp_path):
    for text, told in [("queues = {\n}\na = {\n}\n", ["toml-1-1-syntax"]), ("vars = {\n}\n", [])]:
        (tmp_path / "wrangler.toml").write_text(text, encoding="utf-8")
        report = lint_paths([str(tmp_path)])
        assert infos(report) == told
        if told:
            [finding] = report.findings
            assert (finding.line, finding.column) == (1, 11)
            assert "4.137.0" in finding.message


# --- a queue handler that feeds itself

LOOP = """{ "name": "crawl", "main": "src/index.js",
  "queues": {
    "producers": [{ "binding": "PAGES", "queue": "pages" }, { "binding": "OTHER", "queue": "other" }],
    "consumers": [{ "queue": "pages", "dead_letter_queue": "pages-dlq" }, { "queue": "other", "dead_letter_queue": "other-dlq" }]
  } }
"""


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("export default { async fetch(request, env) { await env.PAGES.send(1); }, async queue(batch) { batch.ackAll(); } };", []),
        ("export default { async queue(batch, env) { for (const m of batch.messages) await env.PAGES.send(m.body + 1); } };", [3]),
        ("export default { async queue(batch, env) { await env.PAGES.sendBatch([{ body: 1 }]); await env.OTHER.send(1); } };", [3, 3]),
        (
            "async function crawl(env) { await env.PAGES.send(1); }\nexport default { async queue(batch, env) { for (const m of batch.messages) await crawl(env); } };",
            [3],
        ),
        (
            'export default { async queue(batch, env) {\n  if (batch.queue === "pages") { await env.OTHER.send(1); } else { batch.ackAll(); }\n} };',
            [],
        ),
        (
            'export default { async queue(batch, env) {\n  switch (batch.queue) { case "pages": await env.PAGES.send(1); break; case "other": await env.PAGES.send(2); }\n} };',
            [3],
        ),
        ("export default { async fetch() { return new Response(); } };", []),
        ("export default {", []),
    ],
)
def test_a_handler_that_sends_to_its_own_queue(source, lines, tmp_path):
    report = lint_files(tmp_path, {"wrangler.jsonc": LOOP, "src/index.js": source}, select=["feedback-loop"])
    assert [f.line for f in report.findings] == lines
    assert all(f.severity is Severity.INFO for f in report.findings)


def test_a_python_handler_that_sends_to_its_own_queue(tmp_path):
    source = "class Default:\n    async def queue(self, batch, env, ctx):\n        await env.PAGES.send(1)\n"
    report = lint_files(tmp_path, {"wrangler.jsonc": LOOP.replace("index.js", "index.py"), "src/index.py": source}, select=["feedback-loop"])
    assert [(f.line, "src/index.py:3" in f.message) for f in report.findings] == [(3, True)]
