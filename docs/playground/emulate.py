"""What the page asks of the emulator: run a text with `emu`, and give back all that happened to messages, as JSON."""

from __future__ import annotations

import io
import json
import traceback
from contextlib import redirect_stderr, redirect_stdout

from emulator import Emulator
from emulator.engine.ledger.steps import steps

BODY_MAX = 40
STEPS_MAX = 4_000
"""More would be no picture any more."""


def run(source):
    """Run a consumer's text, then let all that is due happen. Output, steps by message, and the trace."""
    emu, printed, failed = Emulator(), io.StringIO(), None
    with redirect_stdout(printed), redirect_stderr(printed):
        try:
            code = compile(source, "consumer.py", "exec")
            exec(code, {"__name__": "consumer", "emu": emu})
        except BaseException as error:  # whatever a visitor's text does is shown to the visitor
            failed = "".join(traceback.format_exception(error)[-1:]).strip()
            at = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "consumer.py"]
            failed += f" (line {at[-1].lineno})" if at else ""
    found = [step for event in emu.events for step in steps(event)]
    bodies = {id: shown(body) for step in found for id, body in zip(step.ids, step.bodies, strict=False)}
    told = [
        {
            "kind": str(s.kind),
            "at": s.at_us,
            "queue": s.queue,
            "ids": s.ids,
            "values": s.values,
            "error": s.error,
            "other": s.other,
            "batch": s.batch,
        }
        for s in found[:STEPS_MAX]
    ]
    errors = [f"{type(error).__name__}: {error}" for error in emu.errors[:5]]
    return json.dumps(
        {
            "steps": told,
            "more": max(0, len(found) - STEPS_MAX),
            "bodies": bodies,
            "queues": list(emu.queues),
            "printed": printed.getvalue()[:20_000],
            "failed": failed,
            "errors": errors,
            "trace": str(emu.trace()),
            "until": round(emu.now.timestamp() * 1_000_000),
        }
    )


def shown(body):
    """A body in a few characters."""
    text = body.decode("utf-8", "replace")
    return text if len(text) <= BODY_MAX else text[: BODY_MAX - 1] + "…"
