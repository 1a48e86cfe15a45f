"""What a Worker exports beside its handlers: functions, objects and classes do no harm; the runtime takes no other values."""

from __future__ import annotations

import pytest

from emulator import Emulator
from emulator.workers.javascript.errors import SourceRefused

from .workers import consumes, write

pytestmark = pytest.mark.usefixtures("tools")

EXPORTS = {
    "a function": "export function helper() {}",
    "an arrow": "export const helper = () => 1;",
    "an async function": "export async function helper() {}",
    "an object of constants": "export const COLOURS = { red: 1 };",
    "a list": "export const all = [1, 2];",
    "a class": "export class Plain { constructor(a) { this.a = a; } }",
    "an error class": "export class NotFound extends Error {}",
    "an entrypoint": 'import { WorkerEntrypoint } from "cloudflare:workers"; export class Other extends WorkerEntrypoint { hello() {} }',
    "an unbound object": 'import { DurableObject } from "cloudflare:workers"; export class Idle extends DurableObject {}',
    "a Map": "export const known = new Map();",
}

REFUSED = {
    "export const LIMIT = 5;": "Incorrect type for map entry 'LIMIT': the provided value is not of type 'function or ExportedHandler'.",
    'export const NAME = "x";': "Incorrect type for map entry 'NAME': the provided value is not of type 'function or ExportedHandler'.",
    "export const nothing = null;": "with required members from an undefined or null value.",
}
"""As when it is deployed: https://developers.cloudflare.com/workers/observability/errors/."""
HANDLER = "export default { async queue(batch) { console.log(batch.messages[0].body); } };"


@pytest.mark.parametrize("source", EXPORTS.values(), ids=EXPORTS)
def test_an_export_that_is_no_handler_does_no_harm(tmp_path, source):
    path = write(tmp_path, f"{source}\n{HANDLER}", file="src/index.js", queues=consumes())
    with Emulator.from_wrangler(path) as emu:
        worker = emu.worker(path)
        emu.queue("jobs").send("hello")
        emu.run_until_idle()
        assert [line.text for line in worker.console] == ["hello"]
        assert [fate.state for fate in emu.fates] == ["acked"]


@pytest.mark.parametrize(("source", "message"), REFUSED.items())
def test_an_export_of_any_other_kind_is_refused_as_by_the_runtime(tmp_path, source, message):
    path = write(tmp_path, f"{source}\n{HANDLER}", file="src/index.js", queues=consumes())
    with Emulator.from_wrangler(path) as emu, pytest.raises(SourceRefused) as caught:
        emu.worker(path)
    assert str(caught.value).startswith("Uncaught TypeError: ")
    assert str(caught.value).endswith(message)


def test_what_a_module_throws_when_it_is_loaded_is_told_at_its_line(tmp_path):
    source = "interface Gone { a: 1 }\nfunction fails(): never {\n  throw new RangeError('too early');\n}\nexport const x = fails();\n"
    path = write(tmp_path, f"{source}{HANDLER}", compatibility_flags=["nodejs_compat"], compatibility_date="2026-11-01", queues=consumes())
    with Emulator.from_wrangler(path) as emu, pytest.raises(SourceRefused) as caught:
        emu.worker(path)
    assert str(caught.value).splitlines() == [
        "Uncaught RangeError: too early", "  at src/index.ts:3:9 in fails", "  at src/index.ts:5:18",
    ]  # fmt: skip
