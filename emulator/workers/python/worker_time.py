"""`time` and `datetime` for a Worker's own modules: the emulator's clock, in UTC. As in the runtime, it stands while code runs.

Values are Python's own datetimes; only the classes differ, and they take every datetime for their instance.
"""

from __future__ import annotations

import datetime as dt
import time as real_time
from typing import TYPE_CHECKING, Any

from emulator.workers.python.worker_sys import copied

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


def modules(now_us: Callable[[], int]) -> dict[str, ModuleType]:
    """`time` and `datetime` on a clock of microseconds since 1970."""
    return {"time": copied(real_time, _time_functions(now_us)), "datetime": copied(dt, _datetime_classes(now_us))}


def _time_functions(now_us: Callable[[], int]) -> dict[str, Any]:
    def seconds() -> float:
        return now_us() / 1_000_000

    def nanoseconds() -> int:
        return now_us() * 1_000

    def gmtime(at: float | None = None) -> real_time.struct_time:
        return real_time.gmtime(seconds() if at is None else at)

    def strftime(format: str, at: Any = None) -> str:
        return real_time.strftime(format, gmtime() if at is None else at)

    clocks = dict.fromkeys(("time", "monotonic", "perf_counter"), seconds)
    clocks_ns = dict.fromkeys(("time_ns", "monotonic_ns", "perf_counter_ns"), nanoseconds)
    return {**clocks, **clocks_ns, "gmtime": gmtime, "localtime": gmtime, "strftime": strftime}


def _datetime_classes(now_us: Callable[[], int]) -> dict[str, Any]:
    moment, day = dt.datetime, dt.date

    def now(_cls: Any, tz: Any = None) -> dt.datetime:
        aware = moment(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=now_us())
        return aware.astimezone(tz) if tz is not None else aware.replace(tzinfo=None)

    def today(_cls: Any) -> dt.date:
        return now(None).date()

    def naive(_cls: Any) -> dt.datetime:
        return now(None)

    methods = {"now": classmethod(now), "today": classmethod(naive), "utcnow": classmethod(naive)}
    return {"datetime": _stand_in(moment, methods), "date": _stand_in(day, {"today": classmethod(today)})}


def _stand_in(real: type, methods: dict[str, Any]) -> type:
    """A class that makes the real one's instances and takes them for its own."""

    class Kind(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, real) if cls is made else type.__instancecheck__(cls, instance)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, real) if cls is made else type.__subclasscheck__(cls, subclass)

    def new(cls: type, *given: Any, **named: Any) -> Any:
        return real.__new__(real if cls is made else cls, *given, **named)

    def schema(_cls: type, _source: Any, handler: Callable[[type], Any]) -> Any:
        return handler(real)  # what pydantic asks for

    content = {"__new__": new, "__get_pydantic_core_schema__": classmethod(schema), "__module__": real.__module__, **methods}
    made: type = Kind(real.__name__, (real,), {**content, "__doc__": real.__doc__})
    return made
