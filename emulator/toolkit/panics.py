"""Programming errors: what in Go would be a panic, in Python is an exception like any other, and is told apart by its type."""

from __future__ import annotations

import os
import traceback

PANICS: tuple[type[BaseException], ...] = (
    AssertionError, AttributeError, IndexError, KeyError, NameError, TypeError, ZeroDivisionError, RecursionError,
    NotImplementedError, MemoryError,
)  # fmt: skip


def is_panic(error: BaseException, panics: tuple[type[BaseException], ...] = PANICS) -> bool:
    """Whether the error itself is a programming error: asynq's `IsPanicError(err)`, a function, not a value to compare with."""
    return isinstance(error, panics)


def place_of(error: BaseException) -> str:
    """Where it was raised, as "file.py:12"; empty for an error that was never raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""


def stack_of(error: BaseException) -> str:
    """The whole traceback as text, causes included: what a dead letter keeps."""
    return "".join(traceback.format_exception(error))
