"""Loads a Worker's own source, in whatever language it is: of a wrangler file, or one file of code."""

from __future__ import annotations

from collections.abc import Mapping
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulator.core.refusals import ConfigRefused
from emulator.engine.chance import remembered
from emulator.workers import config
from emulator.workers.outgoing import answerer_of

if TYPE_CHECKING:
    from os import PathLike

    from emulator.workers.host import Host

_SEEN_WHEN_RUN = frozenset({"CFQ801"})
"""Whether there is a handler need not be guessed from the source: the Worker is run."""
_JAVASCRIPT = frozenset({".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx"})
_CONFIGURATION = "cloudflare.config."


def load(host: Host, path: str | PathLike[str], env: str | Mapping[str, Any] | None = None, **options: Any) -> Any:
    """Load the Worker. `env` names an environment of the file, or holds bindings, as the option `bindings` does.

    `fetch` answers what it fetches: a function, the URL of a server, or a transport of httpx such as `httpx.MockTransport`.
    Raises ConfigRefused for a file with errors, what a Worker's module raises, and TypeError for an option that its language
    does not have.
    """
    if isinstance(env, Mapping):
        options["bindings"] = {**env, **(options.get("bindings") or {})}
        env = None
    if "fetch" in options:
        options["fetch"] = answerer_of(options["fetch"])
    file = Path(fspath(path))
    if file.suffix == ".py" or (file.suffix in _JAVASCRIPT and not file.name.startswith(_CONFIGURATION)):
        if env is not None:
            message = f"env names an environment of a wrangler file; a {file.suffix} file has none"
            raise TypeError(message)
        if file.suffix == ".py":
            from emulator.workers.python.loading import load as load_python

            return load_python(host, file.absolute(), **options)
        from emulator.workers.javascript.loading import load_file

        return load_file(host, file.absolute(), **options)
    plan = host.account.state.plan
    found = remembered(("config", file.absolute(), env, plan), lambda: config.load(path, env, plan, but=_SEEN_WHEN_RUN))
    if found.main is not None and found.main.suffix == ".py":
        from emulator.workers.python.loading import load as load_python

        return load_python(host, found, **options)
    if found.main is None:
        raise ConfigRefused(f"{found.file} has no main: there is no code to run")
    from emulator.workers.javascript.loading import load as load_javascript

    return load_javascript(host, found, **options)
