"""Exceptions of users' code may fail at every question: they are an outcome like others, and report, journal and trace stand."""

from __future__ import annotations

import asyncio
import json

import pytest

from emulator import Emulator
from emulator.engine.error_text import ERROR_TEXT_MAX, error_repr, error_text


def fails(*_):
    raise RuntimeError("asked")


def ends(*_):
    raise SystemExit


class Nameless(type):
    __name__ = property(fails)


class Text(str):
    __slots__ = ()
    __format__ = __str__ = __len__ = __getitem__ = fails


class Shaped:
    """Fails wherever code usually looks at an exception."""

    __class__ = args = property(fails)
    __str__ = __repr__ = __getattribute__ = __setattr__ = __hash__ = __eq__ = __bool__ = fails


class HostileError(Shaped, Exception, metaclass=Nameless):
    pass


class FatalError(Shaped, BaseException, metaclass=Nameless):
    __str__ = __repr__ = ends


class SubtleError(Exception):
    def __str__(self):
        return Text("x")

    __repr__ = __str__


class WrongError(Exception):
    def __str__(self):
        return 5  # noqa: PLE0307 - what is tested

    __repr__ = __str__


ERRORS = [WrongError, SubtleError, HostileError, FatalError]
IDS = ["wrong", "subtly hostile", "hostile", "hostile base"]


def test_the_text_of_an_error():
    assert (error_text(ValueError("no user")), error_repr(ValueError("no user"))) == ("ValueError: no user", "ValueError('no user')")
    assert (error_text(KeyError("k")), error_repr(KeyError("k"))) == ("KeyError: 'k'", "KeyError('k')")


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        (WrongError, "WrongError: <WrongError: str() raised TypeError>", "<WrongError: repr() raised TypeError>"),
        (SubtleError, "SubtleError: x", "x"),
        (HostileError, "HostileError: <HostileError: str() raised RuntimeError>", "<HostileError: repr() raised RuntimeError>"),
        (FatalError, "FatalError: <FatalError: str() raised SystemExit>", "<FatalError: repr() raised SystemExit>"),
    ],
    ids=IDS,
)
def test_the_text_of_an_error_that_fails_when_asked(kind, text, shown):
    error = kind()
    assert (error_text(error), error_repr(error)) == (text, shown)
    assert type(error_text(error)) is type(error_repr(error)) is str


def test_a_long_text_is_cut():
    error = ValueError("x" * 10_000)
    assert len(error_text(error)) == len(error_repr(error)) == ERROR_TEXT_MAX
    assert error_text(error).endswith("x…")
    assert len(error_text(ValueError("x" * (ERROR_TEXT_MAX - len("ValueError: "))))) == ERROR_TEXT_MAX


async def raise_later(kind):
    await asyncio.sleep(1)
    raise kind


def raise_now(kind):
    raise kind


async def raise_in_promise(kind, ctx):
    ctx.waitUntil(raise_later(kind))


@pytest.mark.parametrize("kind", ERRORS, ids=IDS)
@pytest.mark.parametrize("way", ["sync", "async", "promise"])
def test_whatever_a_handler_raises_is_an_outcome(kind, way, tmp_path):
    ways = {
        "sync": lambda *_: raise_now(kind),
        "async": lambda *_: raise_later(kind),
        "promise": lambda _batch, _env, ctx: raise_in_promise(kind, ctx),
    }
    with Emulator(journal=tmp_path / "journal.db") as emu:
        queue = emu.create_queue("q")
        emu.consume("q", ways[way], max_batch_timeout=0, max_retries=1)
        queue.send(1)
        emu.run_until_idle()
        assert [fate.state for fate in emu.fates] == ["dropped"]
        name = type.__dict__["__name__"].__get__(kind)
        assert [(d.outcome, d.error.split(":")[0]) for d in emu.deliveries] == [("exception", name)] * 2
        assert "Handler errors" in str(emu.report())
        assert len(json.loads(emu.report().to_json())["errors"]) == 2
        assert name in str(emu.trace())
        told = [delivery.error for delivery in emu.deliveries]
    with Emulator(journal=tmp_path / "journal.db") as emu:
        assert [delivery.error for delivery in emu.deliveries] == told
