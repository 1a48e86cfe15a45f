"""Cloudflare's REST API below `/accounts/{account_id}`: a file for each operation, with its name.

https://developers.cloudflare.com/api/resources/queues/.
"""

from __future__ import annotations

from emulator.server.wire.operation import gathered

OPERATIONS = gathered(__name__, __path__)
"""Cloudflare's endpoints."""
