"""Queues, consumers and bindings from a wrangler file: from the same view that the linter uses, for one environment.

An environment's `queues` replaces the top level's and is never merged with it. A file with lint errors is refused.
https://developers.cloudflare.com/workers/wrangler/environments/ and .../workers/configuration/compatibility-flags/.
"""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from cfq_lint import lint_paths
from cfq_lint.model.wrangler import Environment, Unreadable, read_worker
from emulator.core.model import Consumer
from emulator.core.refusals import ConfigRefused

JSON_SINCE = "2024-03-18"
"""Compatibility date from which a body without a content type is json; before it, v8."""
CODES_SINCE = "2026-03-12"
"""Compatibility date from which a Worker sees the codes of refusals."""


class Config(NamedTuple):
    """What a file says for one environment: consumers by queue, queues by binding, plain variables, and what its flags mean."""

    consumers: dict[str, Consumer]
    bindings: dict[str, str]
    variables: dict[str, Any]
    flags: frozenset[str]
    content_type: str
    exposes_codes: bool


def load(path: str | PathLike[str], env: str | None, plan: str) -> Config:
    """Read a file, or the first wrangler file of a folder. Raises ConfigRefused with the findings for one with errors."""
    return config_of(select(path, env, plan)[1])


def select(
    path: str | PathLike[str], env: str | None, plan: str, *, but: frozenset[str] = frozenset()
) -> tuple[Path, Environment]:
    """The file, and what it says for one environment. Raises ConfigRefused as `load` does, but not for the rules `but`."""
    try:
        worker = read_worker(fspath(path), env)
    except Unreadable as error:
        raise ConfigRefused(str(error)) from error
    where = worker.document.path
    report = lint_paths([where], env=env, plan=plan)
    wrong = [finding for finding in report.findings if finding.severity == "error" and finding.code not in but]
    if wrong or report.problems:
        lines = [*report.problems, *(f"{f.path}:{f.line}:{f.column}: {f.code} {f.name}: {f.message}" for f in wrong)]
        raise ConfigRefused(f"{where} has errors:\n" + "\n".join(lines), wrong)
    if worker.lacks_selected:
        known = ", ".join(sorted(each.name for each in worker.every_environment if each.name)) or "none"
        raise ConfigRefused(f"{where} has no environment {env!r} (environments: {known})")
    return Path(where), worker.top if env is None else worker.environments[0]


def config_of(environment: Environment) -> Config:
    """Queues, consumers, variables and flags of one environment."""
    flags_field, date_field = environment.inherited("compatibility_flags"), environment.inherited("compatibility_date")
    flags = frozenset(flag for flag in (flags_field.node.plain() if flags_field is not None else []) if isinstance(flag, str))
    date = date_field.text or "" if date_field is not None else ""
    variables = environment.fields.get("vars")
    values = variables.node.plain() if variables is not None else {}
    return Config(
        consumers={each.queue_name: _consumer(each.node.plain()) for each in environment.consumers},
        bindings={each.binding.text or "": each.queue_name for each in environment.producers if each.binding and each.queue},
        variables=values if isinstance(values, dict) else {},
        flags=flags,
        content_type="json" if _on("queues_json_messages", JSON_SINCE, date, flags) else "v8",
        exposes_codes=_on("queue_expose_error_codes", CODES_SINCE, date, flags),
    )


def _consumer(fields: dict[str, Any]) -> Consumer:
    """The keys that a consumer has in the file; the service's defaults for the others."""
    known = {name: value for name, value in fields.items() if name in Consumer._fields and value is not None}
    known = {name: int(value) if isinstance(value, float) and value.is_integer() else value for name, value in known.items()}
    return Consumer(**known | {"dead_letter_queue": known.get("dead_letter_queue") or None})


def _on(flag: str, since: str, date: str, flags: frozenset[str]) -> bool:
    """Whether a compatibility flag is in force: by name, by the opposite's name, or by date."""
    if flag in flags:
        return True
    return f"no_{flag}" not in flags and date >= since
