"""Workflows: the engine of the project's miniflare, else of the cache's, in our workerd: a Worker of the account for each.

miniflare keeps the engine and the binding apart, and beside them what they check with:
https://github.com/cloudflare/workers-sdk/tree/main/packages/miniflare/src/workers. As a Worker it is on virtual time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.workers.javascript.bundling.evaluating import Evaluated, evaluating
from emulator.workers.javascript.toolchain import SETUP, cache_folder, resolve
from emulator.workers.javascript.workerd.configuration import Script, text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from emulator.workers.config import Config

ENGINE_DATE = "2024-10-22"
"""miniflare's own for it."""
LACKING = (
    "workflows run in the engine of miniflare, which this project has not installed: `npm install --save-dev wrangler`, or "
    f"`{SETUP}`"
)
_FOLDER = ("dist", "src", "workers")


class Workflow(NamedTuple):
    """A workflow of the account: its `name`, the Worker that has its class, and the place of its engine."""

    name: str
    worker: int
    class_name: str
    place: int


class Engine(NamedTuple):
    """miniflare's modules, read."""

    evaluated: Evaluated
    builtin: tuple[tuple[str, bool, str], ...]


def engine_of(folder: Path) -> Engine | None:
    """That of the project's miniflare, else of the cache's; None where there is none."""
    for root in (resolve("wrangler", folder) or folder, cache_folder()):
        home = resolve("miniflare", root)
        engine = None if home is None else _read(home.joinpath(*_FOLDER))
        if engine is not None:
            return engine
    return None


@lru_cache(maxsize=4)
def _read(folder: Path) -> Engine | None:
    engine, checks, binding = (
        folder / name for name in ("workflows/binding.worker.js", "shared/zod.worker.js", "workflows/wrapped-binding.worker.js")
    )
    if not (engine.is_file() and binding.is_file()):
        return None
    read = [("cfq-internal:workflows.js", True, binding.read_text(encoding="utf-8"))]
    if checks.is_file():
        read.append(("miniflare:zod", False, checks.read_text(encoding="utf-8")))
    return Engine(evaluating(engine.read_text(encoding="utf-8")), tuple(read))


def workflows_of(configs: Sequence[Config]) -> dict[str, Workflow]:
    """The workflows that the Workers of an account bind, by name."""
    places = {config.script: place for place, config in enumerate(configs)}
    found: dict[str, Workflow] = {}
    for config in configs:
        for row in rows_of(config):
            name, worker = str(row.get("name")), places.get(str(row.get("script_name") or config.script))
            if worker is not None and name not in found:
                found[name] = Workflow(name, worker, str(row.get("class_name")), len(configs) + len(found))
    return found


def rows_of(config: Config) -> list[dict[str, Any]]:
    """The rows of a configuration."""
    return [row for row in config.settings.get("workflows") or () if isinstance(row, dict) and row.get("binding")]


def script_of(workflow: Workflow, engine: Engine, flags: frozenset[str]) -> Script:
    """The engine of a workflow as workerd runs it. `flags` are those of the Worker that has its class."""
    user = f"(name = {text(f'worker{workflow.worker}')}, entrypoint = {text(workflow.class_name)})"
    bindings = (
        f'(name = "ENGINE", durableObjectNamespace = (className = "Engine", serviceName = {text(f"worker{workflow.place}")}))',
        f'(name = "USER_WORKFLOW", service = {user})',
        f'(name = "BINDING_NAME", text = {text(workflow.name)})',
        f'(name = "WORKFLOW_NAME", text = {text(workflow.name)})',
    )
    modules = (("workflows.mjs", "esModule", engine.evaluated.text),)
    return Script(
        workflow.place, ENGINE_DATE, flags | {"experimental"}, modules, engine.evaluated.exports,
        engine.evaluated.awaits, bindings, (), ("Engine",), engine.builtin,
    )  # fmt: skip
