"""PUT /emulator/faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, defstruct, structs

from emulator.engine.faults import Dice, Faults
from emulator.server.wire.fields import Body
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.shapes import Shape

if TYPE_CHECKING:
    from emulator.server.service import Service

_CHANCE = Annotated[float, Meta(ge=0, le=1)]
NAMES = tuple(name for name in Faults._fields if name != "slow_seconds")
FAULTS = Shape("Faults", {"type": "object"})
FaultChances: Any = defstruct(
    "FaultChances", [(name, _CHANCE, 0.0) for name in NAMES], bases=(Body,), module=__name__, forbid_unknown_fields=True,
    namespace={"__doc__": "Chances from 0 to 1; what is left out is 0."},
)  # fmt: skip


def put_faults(call: Call) -> dict[str, Any]:
    """Set the chances of faults; what is left out is 0."""
    set_faults(call.service, Faults(**structs.asdict(call.body)))
    return dict(call.service.dice.faults._asdict())


def set_faults(service: Service, faults: Faults) -> None:
    """These chances, from now on."""
    new = Dice(faults, service.emulator.seed)
    service.dice.faults, service.dice.calm = new.faults, new.calm


OPERATION = Operation("PUT", "/emulator/faults", put_faults, FAULTS, FaultChances)
