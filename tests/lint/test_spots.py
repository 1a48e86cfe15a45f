"""What stands at an offset: the way there by keys and indexes, in JSON, in TOML with its tables, and in texts that do not parse."""

from __future__ import annotations

import pytest

from cfq_lint import Key, grouped_fixes, keys_of, lint_text, spot_at

JSON = '{ "queues": { "consumers": [{ "queue": "a" }, { "queue": "b", "max_retries": 3 }] }, "env": { "x": { "queues": {} } } }'
TOML = """name = "w"

[[queues.consumers]]
queue = "a"

[[queues.consumers]]
queue = "b"
max_retries = 3

[env.x.vars]
y = 1
"""


@pytest.mark.parametrize(
    ("text", "name", "needle", "path", "on_key"),
    [
        (JSON, "wrangler.jsonc", '"a"', ("queues", "consumers", 0, "queue"), False),
        (JSON, "wrangler.jsonc", '"max_retries"', ("queues", "consumers", 1, "max_retries"), True),
        (JSON, "wrangler.jsonc", "3 }", ("queues", "consumers", 1, "max_retries"), False),
        (JSON, "wrangler.jsonc", '"x"', ("env", "x"), True),
        (JSON[:62], "wrangler.jsonc", '"b"', ("queues", "consumers", 1, "queue"), False),
        (TOML, "wrangler.toml", '"b"', ("queues", "consumers", 1, "queue"), False),
        (TOML, "wrangler.toml", "max_retries", ("queues", "consumers", 1, "max_retries"), True),
        (TOML, "wrangler.toml", "y = 1", ("env", "x", "vars", "y"), True),
        (TOML.replace("max_retries = 3", "max_"), "wrangler.toml", "max_", ("queues", "consumers", 1), False),
        (
            TOML[: TOML.index("[env")].replace("max_retries = 3", "\n  max_"),
            "wrangler.toml",
            "max_",
            ("queues", "consumers", 1),
            False,
        ),
    ],
)
def test_the_way_to_an_offset(text, name, needle, path, on_key):
    spot = spot_at(text, text.index(needle) + 1, name)
    assert (spot.path, spot.on_key) == (path, on_key)


def test_nothing_stands_outside_of_all():
    assert spot_at("  // nothing\n", 3).node is None


def test_the_table_of_keys():
    keys = keys_of("consumers")
    assert all(isinstance(each, Key) for each in keys.values())
    assert (keys["max_retries"].minimum, keys["max_retries"].maximum, keys["max_retries"].default) == (0, 100, 3)
    assert "binding" in keys_of("producers")


def test_fixes_are_grouped_by_file_and_rule():
    text = JSON.replace('"queue": "a"', '"queue": "a", "max_batch_size": "5"').replace('"max_retries": 3', '"max_retries": "3"')
    groups = grouped_fixes(lint_text(text))
    assert {path: {code: len(each) for code, each in codes.items()} for path, codes in groups.items()} == {
        "wrangler.jsonc": {"CFQ109": 2}
    }
    assert grouped_fixes(lint_text(JSON.replace("3 }", "300 }"))) == {}
    assert {*grouped_fixes(lint_text(JSON.replace("3 }", "300 }")), unsafe=True)["wrangler.jsonc"]} == {"CFQ203", "CFQ301"}
