"""PUT /emulator/faults."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, defstruct, to_builtins

from emulator.engine.faults import FAULTS, SLOW_SECONDS, Faults
from emulator.server.control.get_faults import SHOWN, faults_json
from emulator.server.wire.fields import Body
from emulator.server.wire.operation import Call, Operation

_SECONDS = Annotated[list[int], Meta(min_length=2, max_length=2, description="Of a slow handler, least and most.")]
FaultChances: Any = defstruct(
    "FaultChances",
    [
        *(
            (name, Annotated[float, Meta(ge=row.bounds[0], le=row.bounds[1], description=row.doc)] | UnsetType, UNSET)
            for name, row in FAULTS.items()
        ),
        ("slow_seconds", _SECONDS | UnsetType, UNSET),
    ],
    bases=(Body,), module=__name__, namespace={"__doc__": "Chances of faults, by name."}, forbid_unknown_fields=True,
)  # fmt: skip
"""The table of faults as a body."""


def put_faults(call: Call) -> dict[str, Any]:
    """Set the chances of faults; what is left out is 0."""
    return use(call, {"slow_seconds": SLOW_SECONDS})


def use(call: Call, before: dict[str, Any]) -> dict[str, Any]:
    """Chances as they were, changed as the body says."""
    given = before | to_builtins(call.body)
    call.service.account.use_faults(Faults(**given | {"slow_seconds": tuple(given["slow_seconds"])}))
    return faults_json(call.service)


OPERATION = Operation("PUT", "/emulator/faults", put_faults, SHOWN, FaultChances)
