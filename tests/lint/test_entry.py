"""Whether a Worker's source certainly lacks a queue handler: read, never run, and silent where there is doubt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfq_lint.worker_code.modules.entry import certainly_lacks_queue_handler

from .support import lint_files

LACKING = {
    "a class with fetch alone": "from workers import WorkerEntrypoint, Response\n\nclass Default(WorkerEntrypoint):\n    async def fetch(self, request):\n        return Response('ok')\n",
    "an empty class": "from workers import WorkerEntrypoint\nclass Default(WorkerEntrypoint):\n    pass\n",
    "a handler in a comment": "class Default(WorkerEntrypoint):\n    # async def queue(self, batch): ...\n    async def fetch(self, request): ...\n",
    "a handler in a string": "class Default(WorkerEntrypoint):\n    '''async def queue(self, batch)'''\n    async def fetch(self, request): ...\n",
    "another name that only looks like it": "class Default(WorkerEntrypoint):\n    async def queues(self, batch): ...\n    async def enqueue(self): ...\n",
}
SILENT = {
    "the handler itself": "class Default(WorkerEntrypoint):\n    async def queue(self, batch, env, ctx):\n        pass\n",
    "a plain function": "async def on_queue(batch, env):\n    pass\n",
    "a decorated class": "@magic\nclass Default(WorkerEntrypoint):\n    async def fetch(self, r): ...\n",
    "a base class from elsewhere": "from base import Base\nclass Default(Base):\n    async def fetch(self, r): ...\n",
    "a metaclass": "class Default(WorkerEntrypoint, metaclass=M):\n    async def fetch(self, r): ...\n",
    "a star import": "from handlers import *\nclass Default(WorkerEntrypoint):\n    async def fetch(self, r): ...\n",
    "an imported class": "from app import Default\n",
    "an imported handler": "from app import on_queue\nclass Default(WorkerEntrypoint):\n    pass\n",
    "an assigned handler": "class Default(WorkerEntrypoint):\n    async def fetch(self, r): ...\n    queue = make_handler()\n",
    "a handler set later": "class Default(WorkerEntrypoint):\n    async def fetch(self, r): ...\nDefault.queue = handler\n",
    "a handler set by name": "class Default(WorkerEntrypoint):\n    async def fetch(self, r): ...\nsetattr(Default, 'queue', f)\n",
    "a class made later": "Default = make()\n",
    "no entry class": "class Worker(WorkerEntrypoint):\n    async def fetch(self, r): ...\n",
    "a class in a condition": "if X:\n    class Default(WorkerEntrypoint):\n        async def queue(self, b): ...\n",
    "broken source": "class Default(\n",
    "nothing": "",
    "a zero character": "class Default(WorkerEntrypoint):\n    pass\n\0",
    "a handler in a nested block": "class Default(WorkerEntrypoint):\n    if True:\n        async def queue(self, batch): ...\n",
    "deep nesting": "(" * 5000,
}


@pytest.mark.parametrize("text", LACKING.values(), ids=LACKING)
def test_python_that_certainly_lacks_a_handler_is_told(text):
    assert certainly_lacks_queue_handler("src/entry.py", text)


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_python_with_a_handler_or_with_doubt_is_left_alone(text):
    assert not certainly_lacks_queue_handler("src/entry.py", text)


@given(st.text(max_size=60))
def test_any_source_is_read(text):
    for path in ("entry.py", "index.ts", "index.js", "x.mjs"):
        assert certainly_lacks_queue_handler(path, text) in {True, False}


JAVASCRIPT_LACKING = ["export default { async fetch(request) { return new Response() } }", "const worker = { fetch() {} };\nexport default worker;", "export default { fetch() {} } satisfies ExportedHandler<Env>;", "export default class extends WorkerEntrypoint { async fetch() {} }"]  # fmt: skip
JAVASCRIPT_SILENT = [
    "export default { async queue(batch) {} }", "export default { 'queue': f }", "export default { queue }", "export default { ...handlers }", "export default { [name]: f }",
    "export { default } from './app'", "export default app;", "import app from './app';\nexport default app;", "export default make();", "module.exports = {}", "", "export default {",
    "const w = { fetch() {} };\nw.queue = f;\nexport default w;", "export default class extends Base { fetch() {} }", "addEventListener('queue', f)", "export * from './app'",
]  # fmt: skip


@pytest.mark.parametrize("text", JAVASCRIPT_LACKING)
def test_javascript_that_certainly_lacks_a_handler_is_told(text):
    assert certainly_lacks_queue_handler("src/index.ts", text)


@pytest.mark.parametrize("text", JAVASCRIPT_SILENT)
def test_javascript_with_a_handler_or_with_doubt_is_left_alone(text):
    assert not certainly_lacks_queue_handler("src/index.js", text)
    assert not certainly_lacks_queue_handler("src/index.ts", text)


CONFIG = '{ "main": "src/entry.py", "compatibility_flags": ["python_workers"], "queues": { "consumers": [{ "queue": "q", "dead_letter_queue": "d" }, { "queue": "d" }] } }'


def said(folder, config=CONFIG, **files):
    report = lint_files(folder, {"wrangler.jsonc": config, **{f"src/{name}.py": text for name, text in files.items()}})
    return [(f.severity.value, f.line, f.column, f.message) for f in report.findings if f.name == "queue-handler-missing"]


def test_a_consumer_without_a_handler_is_an_error_at_main(tmp_path):
    [(severity, line, column, message)] = said(tmp_path, entry=LACKING["an empty class"])
    assert (severity, line, column) == ("error", 1, CONFIG.index('"src/entry.py"') + 1)
    assert "11001" in message
    assert "entry.py" in message


def test_no_code_is_run(tmp_path):
    trap = f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(9)\n" + LACKING["an empty class"]
    assert said(tmp_path, entry=trap)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "config",
    [
        CONFIG.replace("src/entry.py", "src/gone.py"),
        CONFIG.replace("src/entry.py", "src"),
        CONFIG.replace("src/entry.py", "../../../../../../../etc/hostname"),
        CONFIG.replace('"src/entry.py"', "5"),
        CONFIG.replace("src/entry.py", "\\u0000.py"),
        CONFIG.replace('"consumers": [{ "queue": "q", "dead_letter_queue": "d" }, { "queue": "d" }]', '"producers": [{ "binding": "Q", "queue": "q" }]'),
    ],
)
def test_it_is_silent_where_nothing_can_be_read_or_nothing_is_consumed(config, tmp_path):
    assert not said(tmp_path, config, entry=LACKING["an empty class"])


def test_a_source_that_is_not_utf_8_is_left_alone(tmp_path):
    report = lint_files(tmp_path, {"wrangler.jsonc": CONFIG, "src/entry.py": b"\xff" + LACKING["an empty class"].encode()})
    assert "queue-handler-missing" not in {f.name for f in report.findings}


def test_the_path_of_main_is_relative_to_the_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said(tmp_path / "apps" / "api", entry=LACKING["an empty class"])
