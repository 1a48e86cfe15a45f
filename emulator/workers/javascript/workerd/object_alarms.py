"""Alarms of Durable Objects on the account's clock: one for each object, rung again after a failure.

https://developers.cloudflare.com/durable-objects/api/alarms/: an alarm whose handler throws comes again up to six times, after
two seconds and then each time twice as long; `getAlarm()` is null while its handler runs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from emulator.engine.alarms import Alarm
from emulator.workers.javascript.workerd.wire import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.workers.host import Host
    from emulator.workers.javascript.invocation import Invocation

RETRIES_MAX = 6
FIRST_RETRY_SECONDS = 2
_SECOND_US, _MILLISECOND_US = 1_000_000, 1_000
_OK = 200

Begin = "Callable[[int, dict[str, Any], Callable[[Invocation], None]], Any]"


class ObjectAlarms:
    """`begin(worker, given, on_end)` has an object's `alarm()` called; `failed(worker, text)` hears of one that gave up."""

    def __init__(self, host: Host, begin: Callable[..., Any], failed: Callable[[int, str], None]) -> None:
        self._host, self._begin, self._failed = host, begin, failed
        self._at_ms: dict[tuple[int, str, str], int] = {}

    def answer(self, worker: int, query: dict[str, str]) -> Reply:
        """Set (`at` in milliseconds), delete (`never`) or tell (empty) the alarm of an object."""
        key = (worker, query["class"], query["id"])
        if query["at"] == "":
            at_ms = self._at_ms.get(key)
            return Reply(headers=() if at_ms is None else (("X-Cfq-At", str(at_ms)),))
        if query["at"] == "never":
            self._at_ms.pop(key, None)
            self._set(key, None, 0)
        else:
            self._at_ms[key] = int(query["at"])
            self._set(key, int(query["at"]) * _MILLISECOND_US, 0)
        return Reply()

    def _set(self, key: tuple[int, str, str], at_us: int | None, retry: int) -> None:
        owner, now_us = f"alarm of {key[1]} {key[2]} of {key[0]}", self._host.now_us()
        due_us = None if at_us is None else max(at_us, now_us + 1)
        once = [] if due_us is None else [Alarm(owner, partial(_after, due_us), partial(self._ring, key, retry))]
        self._host.alarms.set(owner, once, now_us)

    def _ring(self, key: tuple[int, str, str], retry: int, _at_us: int) -> None:
        worker, name, id = key
        self._at_ms.pop(key, None)
        given = {"class": name, "object": id, "info": {"retryCount": retry, "isRetry": retry > 0}}

        def ended(invocation: Invocation) -> None:
            how = invocation.ended
            assert how is not None, "it has ended"
            if how.status == _OK:
                return
            if retry < RETRIES_MAX and key not in self._at_ms:  # it may have set another meanwhile
                self._set(key, self._host.now_us() + FIRST_RETRY_SECONDS * 2**retry * _SECOND_US, retry + 1)
            elif retry >= RETRIES_MAX:
                self._failed(worker, f"the alarm of {name} {id} failed {RETRIES_MAX + 1} times and is given up")

        self._begin(worker, given, ended)


def _after(due_us: int, now_us: int) -> int | None:
    return due_us if now_us < due_us else None
