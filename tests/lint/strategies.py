"""Hypothesis strategies for wrangler files: plain values shaped like configurations, right, nearly right and quite wrong."""

from __future__ import annotations

from hypothesis import strategies as st

from cfq_lint.facts.keys import CONSUMER_KEYS, ELSEWHERE, PRODUCER_KEYS

NUMBERS = [
    -(10**20), -86_400, -1, 0, 1, 2, 3, 10, 11, 50, 60, 61, 90, 99, 100, 101, 250, 251, 5000, 30_000, 60_000, 86_400, 86_401, 90_000,
    300_000, 300_001, 43_200_000, 43_200_001, 86_400_000, 2**53 - 1, 10**20,
]  # fmt: skip
FLOATS = [0.0, -0.0, 1.0, 1.5, 10.5, 60.0, 100.0, 1e9, -2.5, 0.001, 1e300]
NAMES = [
    "orders", "orders-dlq", "order-dlq", "orders-dlq-dlq", "jobs", "q", "jobs-staging", "", "My_Orders", "-q", "q-", "a" * 63, "a" * 64,
    "<QUEUE>", "${QUEUE}", "{{queue}}", "YOUR_QUEUE", "your-queue", "4f1c0a9be2d34756a8b9c0d1e2f3a4b5", "é", "日本", "a b", 'a"b', "a'b", "a\\b", "a\nb",
    "2020-01-01",
]  # fmt: skip
BINDINGS = ["ORDERS", "JOBS", "Q", "", "my-queue", "1Q", "$q", "q$1", "ASSETS", "DATA", "é", "a b", "__proto__", "class"]

names = st.sampled_from(NAMES)
bindings = st.sampled_from(BINDINGS)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.sampled_from(NUMBERS) | st.sampled_from(FLOATS)
scalars = st.none() | st.booleans() | numbers | names | texts | st.sampled_from(["10", " 5 ", "http_pull", "worker", "true", "1e3"])
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | names, inner, max_size=3), max_leaves=6
)

WRONG_KEYS = [
    "name", "queue_name", "queueName", "Queue", "quue", "batch_size", "max_wait_time_ms", "maxRetries", "dlq", "retryDelay", "retry-delay",
    "delaySeconds", "visibility_timeout", "bindingName", "max_retrys", "xyz", "", "a.b", *ELSEWHERE,
]  # fmt: skip


def _entry(keys, likely):
    wrong = st.sampled_from(WRONG_KEYS) | texts
    return st.fixed_dictionaries({}, optional={key: st.one_of(likely.get(key, numbers), anything) for key in keys}).flatmap(
        lambda known: st.dictionaries(wrong, anything, max_size=2).map(lambda more: known | more)
    )


consumers = _entry(CONSUMER_KEYS, {"queue": names, "dead_letter_queue": names, "type": st.sampled_from(["worker", "http_pull"])})
producers = _entry(PRODUCER_KEYS, {"queue": names, "binding": bindings, "remote": st.booleans()})


def _mostly(usual):
    """The usual thing in four of five cases, else anything."""
    return st.integers(0, 4).flatmap(lambda die: usual if die else anything)


queues = _mostly(
    st.fixed_dictionaries(
        {},
        optional={
            "producers": _mostly(st.lists(_mostly(producers), max_size=3)),
            "consumers": _mostly(st.lists(_mostly(consumers), max_size=3)),
            "consumer": st.lists(consumers, max_size=1),
            "producer": producers,
            "other": anything,
        },
    )
)
_common = {
    "queues": queues,
    "limits": _mostly(st.fixed_dictionaries({}, optional={"cpu_ms": numbers})),
    "kv_namespaces": _mostly(st.lists(st.fixed_dictionaries({"binding": bindings}), max_size=2)),
    "vars": _mostly(st.dictionaries(bindings, scalars, max_size=2)),
    "ai": st.fixed_dictionaries({"binding": bindings}),
    "durable_objects": _mostly(st.fixed_dictionaries({"bindings": st.lists(st.fixed_dictionaries({"name": bindings}), max_size=2)})),
    "compatibility_date": _mostly(st.sampled_from(["2024-03-17", "2024-03-18", "2026-01-01", ""])),
    "compatibility_flags": _mostly(
        st.lists(
            st.sampled_from([
                "queues_json_messages", "no_queues_json_messages", "queue_expose_error_codes", "no_queue_expose_error_codes",
                "queue_consumer_no_wait_for_wait_until", "queue_consumer_wait_for_wait_until", "python_workers",
            ]),
            max_size=3,
        )
    ),
    "main": _mostly(st.sampled_from(["src/index.ts", "src/entry.py", "", "../x.js"])),
    "name": _mostly(st.sampled_from(["shop", "Shop_1", ""])),
}  # fmt: skip
environments = _mostly(st.fixed_dictionaries({}, optional=_common))
files = st.fixed_dictionaries(
    {},
    optional=_common
    | {
        "env": _mostly(st.dictionaries(st.sampled_from(["staging", "production", "dev", "a.b", ""]), environments, max_size=3)),
        "previews": environments,
        "legacy_env": scalars,
        "pages_build_output_dir": _mostly(st.just("dist")),
    },
)
"""Whole wrangler files as plain values."""
