"""Node's own modules in workerd: when they are there, and by which compatibility flag.

Where a date is older than a module, wrangler bundles a stand-in (unenv), most of whose functions throw. We turn workerd's own
module on instead, so that what loads in production loads here. Flags and dates: `@cloudflare/unenv-preset` 2.16,
https://developers.cloudflare.com/workers/configuration/compatibility-flags/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

COMPAT_DEFAULT_SINCE = "2026-08-04"
"""Compatibility date from which `nodejs_compat` is on."""
COMPAT_V2_SINCE = "2024-09-23"
"""Compatibility date from which `nodejs_compat` also knows names without `node:`."""

BUILTINS = frozenset({
    "_http_agent", "_http_client", "_http_common", "_http_incoming", "_http_outgoing", "_http_server", "_stream_duplex",
    "_stream_passthrough", "_stream_readable", "_stream_transform", "_stream_wrap", "_stream_writable", "_tls_common",
    "_tls_wrap", "assert", "assert/strict", "async_hooks", "buffer", "child_process", "cluster", "console", "constants",
    "crypto", "dgram", "diagnostics_channel", "dns", "dns/promises", "domain", "events", "fs", "fs/promises", "http",
    "http2", "https", "inspector", "inspector/promises", "module", "net", "os", "path", "path/posix", "path/win32",
    "perf_hooks", "process", "punycode", "querystring", "readline", "readline/promises", "repl", "sqlite", "stream",
    "stream/consumers", "stream/promises", "stream/web", "string_decoder", "sys", "timers", "timers/promises", "tls",
    "trace_events", "tty", "url", "util", "util/types", "v8", "vm", "wasi", "worker_threads", "zlib",
})  # fmt: skip
"""Node 22's `module.builtinModules`, and sqlite."""

_HTTP = ("enable_nodejs_http_modules", "2025-08-15")
_LATE = {
    "http": _HTTP, "https": _HTTP, "_http_agent": _HTTP, "_http_client": _HTTP, "_http_common": _HTTP, "_http_incoming": _HTTP,
    "_http_outgoing": _HTTP, "_http_server": ("enable_nodejs_http_server_modules", "2025-09-01"),
    "http2": ("enable_nodejs_http2_module", "2025-09-01"), "os": ("enable_nodejs_os_module", "2025-09-15"),
    "fs": ("enable_nodejs_fs_module", "2025-09-15"), "process": ("enable_nodejs_process_v2", "2025-09-15"),
    "console": ("enable_nodejs_console_module", "2025-09-21"), "vm": ("enable_nodejs_vm_module", "2025-10-01"),
    "punycode": ("enable_nodejs_punycode_module", "2025-12-04"), "cluster": ("enable_nodejs_cluster_module", "2025-12-04"),
    "trace_events": ("enable_nodejs_trace_events_module", "2025-12-04"),
    "domain": ("enable_nodejs_domain_module", "2025-12-04"),
    "wasi": ("enable_nodejs_wasi_module", "2025-12-04"), "inspector": ("enable_nodejs_inspector_module", "2026-01-29"),
    "sqlite": ("enable_nodejs_sqlite_module", "2026-01-29"), "dgram": ("enable_nodejs_dgram_module", "2026-01-29"),
    "_stream_wrap": ("enable_nodejs_stream_wrap_module", "2026-01-29"), "repl": ("enable_nodejs_repl_module", "2026-03-17"),
    "v8": ("enable_nodejs_v8_module", "2026-03-17"), "tty": ("enable_nodejs_tty_module", "2026-03-17"),
    "child_process": ("enable_nodejs_child_process_module", "2026-03-17"),
    "worker_threads": ("enable_nodejs_worker_threads_module", "2026-03-17"),
    "readline": ("enable_nodejs_readline_module", "2026-03-17"),
    "perf_hooks": ("enable_nodejs_perf_hooks_module", "2026-03-17"),
}  # fmt: skip
"""Modules that came later: the flag, and the date from which it is on by itself. The others are there with `nodejs_compat`."""


def node_mode(date: str, flags: Iterable[str]) -> str | None:
    """What a Worker has of Node, in wrangler's words: v2, v1, als (AsyncLocalStorage alone) or None."""
    given = frozenset(flags)
    by_default = date >= COMPAT_DEFAULT_SINCE
    compat = "nodejs_compat" in given or (by_default and "no_nodejs_compat" not in given)
    newer = by_default or (compat and date >= COMPAT_V2_SINCE)
    if "nodejs_compat_v2" in given or (newer and "no_nodejs_compat_v2" not in given):
        return "v2"
    return "v1" if compat else "als" if "nodejs_als" in given else None


def missing_flags(modules: Iterable[str], date: str, flags: Iterable[str], newest_date: str) -> frozenset[str]:
    """Flags that turn on what `modules` (`node:fs`) lack at a compatibility date, in a workerd that knows up to `newest_date`.

    A module that the Worker has turned off stays off.
    """
    given, found = frozenset(flags), set[str]()
    for module in modules:
        name = module.removeprefix("node:")
        flag, since = _LATE.get(name, _LATE.get(name.split("/")[0], ("", "")))
        if flag and date < since <= newest_date and flag.replace("enable_", "disable_", 1) not in given:
            found.add(flag)
            if name in {"http", "https"}:
                found |= missing_flags(["_http_server"], date, flags, newest_date)
    return frozenset(found) - given
