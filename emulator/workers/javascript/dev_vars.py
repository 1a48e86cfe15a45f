"""Secrets for development: `.dev.vars` beside the wrangler file, as wrangler reads it.

https://developers.cloudflare.com/workers/configuration/secrets/#local-development-with-secrets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_LINE = re.compile(
    r"""^\s*(?:export\s+)?(?P<name>[\w.-]+)\s*=\s*(?P<value>'(?:\\'|[^'])*'|"(?:\\"|[^"])*"|`(?:\\`|[^`])*`|[^#\r\n]*)""",
    re.MULTILINE,
)


def read_dev_vars(folder: Path) -> dict[str, str]:
    """The variables of a folder's `.dev.vars`; of `.env` where there is none."""
    for name in (".dev.vars", ".env"):
        if (folder / name).is_file():
            return parsed((folder / name).read_text(encoding="utf-8"))
    return {}


def parsed(text: str) -> dict[str, str]:
    """Lines NAME=value, with the quotes of dotenv; in double quotes a line break may be escaped."""
    found: dict[str, str] = {}
    for line in _LINE.finditer(text):
        value = line["value"].strip()
        quote = value[:1]
        if quote in {"'", '"', "`"} and value.endswith(quote) and len(value) > 1:
            value = value[1:-1]
            if quote == '"':
                value = value.replace("\\n", "\n").replace("\\r", "\r")
        found[line["name"]] = value
    return found
