"""`workers.wsgi.fetch(app, request, env)`: a WSGI application (Flask, Django) answers a request.

https://peps.python.org/pep-3333/. Bodies are read and answered whole.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from emulator.workers.python.javascript.http_values import Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable

_OWN_NAMES = {"CONTENT-TYPE": "CONTENT_TYPE", "CONTENT-LENGTH": "CONTENT_LENGTH"}


async def fetch(app: Callable[..., Any], request: Request, env: Any = None, _ctx: Any = None) -> Response:
    """Let an application answer. Raises what it raises, and RuntimeError when it does not begin an answer."""
    begun: dict[str, Any] = {}
    written: list[bytes] = []

    def start_response(status: str, headers: list[tuple[str, str]], error: Any = None) -> Callable[[bytes], None]:
        if begun and error is None:
            raise AssertionError("start_response() called more than once")
        begun.update(status=status, headers=headers)
        return written.append

    chunks = app(_environ(request, await request.bytes(), env), start_response)
    try:
        content = b"".join(chunks)
    finally:
        if hasattr(chunks, "close"):
            chunks.close()
    if not begun:
        raise RuntimeError("The application did not call start_response()")
    code, _, reason = begun["status"].partition(" ")
    return Response(b"".join(written) + content or None, int(code), reason, begun["headers"])


def _environ(request: Request, content: bytes, env: Any) -> dict[str, Any]:
    parts = urlsplit(request.url)
    environ = {
        "REQUEST_METHOD": str(request.method),
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(parts.path or "/").encode().decode("latin-1"),  # a "native string" of PEP 3333
        "QUERY_STRING": parts.query,
        "SERVER_NAME": parts.hostname,
        "SERVER_PORT": str(parts.port or (443 if parts.scheme == "https" else 80)),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": parts.scheme,
        "wsgi.input": io.BytesIO(content),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "workers.env": env,
    }
    for name, value in [("host", parts.netloc), *request.headers.items()]:
        key = _OWN_NAMES.get(name.upper(), "HTTP_" + name.upper().replace("-", "_"))
        environ[key] = f"{environ[key]},{value}" if key in environ and key != "HTTP_HOST" else value
    if content:
        environ.setdefault("CONTENT_LENGTH", str(len(content)))
    return environ
