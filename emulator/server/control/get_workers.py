"""GET /emulator/workers."""

from __future__ import annotations

from typing import Any

from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import iso
from emulator.server.wire.schemas import MOMENT, TEXT, Shape, list_of, object_of

_LINE = object_of(level=TEXT, text=TEXT)
_SENT = object_of(method=TEXT, url=TEXT, body=TEXT, at=MOMENT)
_WORKER = object_of(name=TEXT, file=TEXT, consumes=list_of(TEXT), console=list_of(_LINE), fetches=list_of(_SENT))
_WORKERS = Shape("Workers", object_of(workers=list_of(_WORKER)))


def get_workers(call: Call) -> dict[str, Any]:
    """The Workers that run here, with what each has written to its console and fetched since the last reset."""
    served = call.service.workers.served if call.service.workers is not None else []
    return {
        "workers": [
            {
                "name": each.name, "file": str(each.config.file), "consumes": sorted(each.config.consumers),
                "console": [{"level": line.level, "text": line.text} for line in each.worker.console],
                "fetches": [
                    {"method": sent.method, "url": sent.url, "body": sent.body.decode("utf-8", "replace"),
                     "at": iso(round(sent.at.timestamp() * 1_000_000))}
                    for sent in each.worker.fetches
                ],
            }
            for each in served
        ]
    }  # fmt: skip


OPERATION = Operation("GET", "/emulator/workers", get_workers, _WORKERS, scope=READ)
