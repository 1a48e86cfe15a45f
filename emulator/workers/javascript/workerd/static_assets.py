"""Static assets of a Worker: `env.ASSETS.fetch(request)` gives a file of the folder that the configuration names.

https://developers.cloudflare.com/workers/static-assets/binding/, with the default `html_handling` (without redirects) and every
`not_found_handling`.
"""

from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from emulator.workers.javascript.workerd.wire import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

_READS = frozenset({"GET", "HEAD"})


def asset(folder: Path, settings: Mapping[str, Any], method: str, url: str) -> Reply:
    """The answer to a request for a file of `folder`. `settings` are those of `assets`."""
    if method not in _READS:
        return Reply(405, b"Method Not Allowed", (("Allow", "GET, HEAD"),), "Method Not Allowed")
    path = unquote(urlsplit(url).path).strip("/")
    places = [path, f"{path}.html", f"{path}/index.html"] if path else ["index.html"]
    for place in places:
        found = _inside(folder, place)
        if found is not None:
            return _file(found, 200)
    handling = settings.get("not_found_handling")
    if handling == "single-page-application" and (index := _inside(folder, "index.html")) is not None:
        return _file(index, 200)
    if handling == "404-page":
        parts = path.split("/")[:-1]
        for depth in range(len(parts), -1, -1):
            page = _inside(folder, "/".join([*parts[:depth], "404.html"]))
            if page is not None:
                return _file(page, 404)
    return Reply(404, b"", (), "Not Found")


def _inside(folder: Path, place: str) -> Path | None:
    found = (folder / place).resolve()
    return found if found.is_file() and found.is_relative_to(folder.resolve()) else None


def _file(path: Path, status: int) -> Reply:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    charset = "; charset=utf-8" if kind.startswith("text/") or kind.endswith(("javascript", "json")) else ""
    return Reply(status, path.read_bytes(), (("Content-Type", kind + charset),))
