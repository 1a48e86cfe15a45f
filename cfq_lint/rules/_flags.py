"""Compatibility flags that change what queues do, and where a Worker sets them.

https://developers.cloudflare.com/workers/configuration/compatibility-flags/
"""

from __future__ import annotations

from cfq_lint.model.topology import JSON_MESSAGES
from cfq_lint.source.node import STRING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.wrangler import Environment
    from cfq_lint.source import Node

NO_WAIT = "queue_consumer_no_wait_for_wait_until"
PYTHON = "python_workers"
OPPOSITES = {
    JSON_MESSAGES: "no_queues_json_messages",
    "queue_expose_error_codes": "no_queue_expose_error_codes",
    NO_WAIT: "queue_consumer_wait_for_wait_until",
}


def flag_nodes(environment: Environment) -> dict[str, Node]:
    """The flags of an environment, inherited ones included, each with its place in the list."""
    field = environment.inherited("compatibility_flags")
    return {item.value: item for item in (field.items if field is not None else ()) if item.kind == STRING}
