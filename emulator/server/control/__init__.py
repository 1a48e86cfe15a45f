"""The emulator's own operations below `/emulator`, open only with `--control`: a file for each; nothing is Cloudflare's."""

from __future__ import annotations

from emulator.server.wire.operation import gathered

OPERATIONS = gathered(__name__, __path__)
"""The emulator's own endpoints."""
