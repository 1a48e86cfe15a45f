"""Who may do what: bearer tokens with read or write scope, compared in constant time."""

from __future__ import annotations

from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING

from emulator.core.refusals import Refused, Unauthorized
from emulator.server.wire.refusals import NotAllowed, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Iterable

READ, WRITE, OPEN = "read", "write", "open"
_SCOPES = (READ, WRITE)


class Access:
    """The tokens of a server: `TOKEN` and `TOKEN:write` may do everything, `TOKEN:read` may look. No tokens: no check."""

    def __init__(self, tokens: Iterable[str] = ()) -> None:
        self._known: list[tuple[bytes, str]] = []
        for given in tokens:
            token, colon, scope = given.rpartition(":")
            if not colon or scope not in _SCOPES:
                token, scope = given, WRITE
            if not token.strip():
                raise ValueError("a token may not be empty")
            if not (token.isascii() and token.isprintable()):
                raise ValueError("a token is plain ASCII: no client could send another")
            self._known.append((sha256(token.encode()).digest(), scope))

    @property
    def closed(self) -> bool:
        """Whether a token is asked for at all."""
        return bool(self._known)

    def check(self, authorization: str | None, scope: str, *, data: bool = False) -> None:
        """Refuse who may not: 401 without a known token, 403 without the scope (10106 for messages, 10023 for the rest)."""
        if scope == OPEN or not self._known:
            return
        kind, _, token = (authorization or "").partition(" ")
        digest = sha256(token.strip().encode("utf-8", "surrogateescape")).digest()
        found: str | None = None
        for known, allowed in self._known:  # all of them, always, so that the time tells nothing
            if compare_digest(known, digest) and found != WRITE:
                found = allowed
        if kind.lower() != "bearer" or found is None:
            raise Unauthenticated
        if scope == WRITE and found != WRITE:
            refusal: type[Refused] = Unauthorized if data else NotAllowed
            raise refusal
