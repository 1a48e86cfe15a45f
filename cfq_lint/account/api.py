"""One account of Cloudflare's REST API, for reading: there is no method but GET, and no way to name another.

Every request is paced, bounded in time and size, and asked again where that may help. No redirect is followed. What the server
says is rid of the token before anybody sees it, logs of httpx included.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import ssl
from ipaddress import ip_address
from typing import TYPE_CHECKING, Self
from urllib.parse import quote, urlsplit

import httpx

from cfq_lint import __version__
from cfq_lint.account import errors
from cfq_lint.account.pace import Clock, Pace, moment, seconds_asked
from cfq_lint.account.payloads import Envelope, read_as
from cfq_lint.facts.errors import AccountError

if TYPE_CHECKING:
    import datetime as dt

    from cfq_lint.account.secret import Secret

PUBLIC = "public"
BASE_URLS = {PUBLIC: "https://api.cloudflare.com/client/v4", "fedramp_high": "https://api.fed.cloudflare.com/client/v4"}
"""Where the API is, by compliance region: an account in one of its own is unknown to the others."""
TIMEOUT_SECONDS = 10.0
ANSWER_BYTES_MAX = 32_000_000
_ACCOUNT = r"[0-9A-Za-z_-]{1,32}"
_SAID_MAX = 300
_OK, _REDIRECTS, _CLIENT_ERRORS, _SERVER_ERRORS = 200, 300, 400, 500
_UNAUTHORIZED, _NOT_FOUND, _TOO_MANY = {401, 403}, 404, 429
_UNAUTHORIZED_CODES = {10000, 10023, 10106}
_LOGGERS = ("httpx", *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))


class Api:
    """The queues of one account; use it as an async context. Raises WrongAccess where it cannot even be asked."""

    def __init__(
        self,
        base_url: str,
        account: str,
        token: Secret,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        clock: Clock | None = None,
    ) -> None:
        self.host, is_safe = _checked(base_url)
        if not re.fullmatch(_ACCOUNT, account):
            # It is not quoted: whoever confuses the two gives the token here.
            raise errors.WrongAccess("the account id is not one: 32 hexadecimal digits; `wrangler whoami` lists yours")
        self.clock = clock or Clock()
        self._url = f"{base_url.rstrip('/')}/accounts/{account}"
        self._token = token
        self._timeout = timeout_seconds
        self._pace = Pace(self.clock)
        self._now: dt.datetime | None = None
        headers = {**token.headers, "Accept": "application/json", "User-Agent": f"cfq-lint/{__version__}"}
        try:
            # Towards this machine no proxy is used, which would see the token.
            self._client = httpx.AsyncClient(headers=headers, timeout=None, follow_redirects=False, trust_env=is_safe)  # noqa: S113
        except (ValueError, ImportError, OSError, httpx.InvalidURL) as error:
            raise errors.WrongAccess(f"the proxy or SSL_CERT_FILE in the environment cannot be used: {error}") from None
        self._hush = _Hush(token)

    async def __aenter__(self) -> Self:
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(self._hush)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(self._hush)

    @property
    def now(self) -> dt.datetime:
        """This moment by the account's own clock, as its latest answer says; by this machine's where none does."""
        return self._now or self.clock.now()

    async def get(self, *path: str, **query: int) -> Envelope:
        """The answer at a path below the account. Raises AccountError."""
        url = "/".join([self._url, *(quote(part, safe="") for part in path)])
        tries = 0
        while True:
            await self._pace.turn()
            tries += 1
            try:
                return self._judged(*await self._asked(url, query))
            except AccountError as error:
                await self._pace.wait(error, tries)

    async def _asked(self, url: str, query: dict[str, int]) -> tuple[int, httpx.Headers, bytes]:
        """One request; status, headers and body of the answer."""
        try:
            async with asyncio.timeout(self._timeout), self._client.stream("GET", url, params=query) as response:
                body = bytearray()
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > ANSWER_BYTES_MAX:
                        raise errors.TooLarge(self.host, ANSWER_BYTES_MAX)
                return response.status_code, response.headers, bytes(body)
        except TimeoutError:
            raise errors.TimedOut(self.host, self._timeout) from None
        except httpx.DecodingError as error:
            raise errors.NotJson(self.host, self._said(str(error))) from None
        except (httpx.HTTPError, OSError, UnicodeError) as error:
            raise self._lost(error) from None

    def _lost(self, error: Exception) -> AccountError:
        """What a fault of the connection means."""
        cause: BaseException | None = error
        why = str(error) or type(error).__name__
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return errors.NotTrusted(
                    self.host, self._said(cause.verify_message or "not a valid certificate") + "; nothing was sent"
                )
            if isinstance(cause, ssl.SSLError):
                return errors.NotTrusted(self.host, self._said(f"no TLS ({cause.reason or cause})"))
            if isinstance(cause, OSError) and cause.errno:
                why = os.strerror(cause.errno) if cause.errno > 0 else cause.strerror or why
            # Where a name has several addresses, each has its fault.
            cause = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause.__cause__ or cause.__context__
        why = self._said(why).rstrip(".")
        if isinstance(error, httpx.ConnectError | httpx.ProxyError | UnicodeError):
            return errors.NotReached(self.host, why)
        return errors.BrokenOff(self.host, why)

    def _judged(self, status: int, headers: httpx.Headers, body: bytes) -> Envelope:
        """The answer, if it says yes."""
        host = self.host
        self._now = moment(headers.get("date")) or self._now
        if _REDIRECTS <= status < _CLIENT_ERRORS:
            raise errors.Redirected(host, status, self._target(headers.get("location", "")))
        if status == _TOO_MANY:
            raise errors.TooManyRequests(host, status, seconds_asked(headers.get("retry-after"), self.now))
        if status >= _SERVER_ERRORS:
            raise errors.ServerFailed(host, status, seconds_asked(headers.get("retry-after"), self.now))
        try:
            answer = self._parsed(body)
        except errors.NotUnderstood:
            if status < _CLIENT_ERRORS:
                raise
            answer = Envelope(success=False)
        mistakes = answer.errors or []
        codes = tuple(each.code for each in mistakes if each.code is not None)
        if status < _CLIENT_ERRORS and answer.success:
            return answer
        said = self._said("; ".join(" ".join(filter(None, [str(each.code or ""), each.message])) for each in mistakes))
        if status in _UNAUTHORIZED or _UNAUTHORIZED_CODES.intersection(codes):
            raise errors.Unauthorized(host, status, said, codes)
        raise (errors.NotFound if status == _NOT_FOUND else errors.Refused)(host, status, said, codes)

    def _parsed(self, body: bytes) -> Envelope:
        try:
            plain = self._token.scrub_json(json.loads(body))
        except (ValueError, RecursionError) as error:
            why = str(error) if body.strip() else "nothing came"
            raise errors.NotJson(self.host, self._said(why)) from None
        return read_as(Envelope, plain, self.host, "the answer")

    def _target(self, location: str) -> str:
        """The host that a redirect names; the rest of it may hold anything."""
        try:
            parts = urlsplit(location)
            return self._said(f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or self.host)
        except ValueError:
            return "an address that is none"

    def _said(self, text: str) -> str:
        """What the server or a library said, fit to be shown."""
        clean = str(self._token.scrub_json(" ".join(text.split())))
        return clean if len(clean) <= _SAID_MAX else clean[: _SAID_MAX - 1] + "…"


def _checked(base_url: str) -> tuple[str, bool]:
    """The host of an address, and whether it is reached by TLS. Raises WrongAccess for one that would give the token away."""
    try:
        parts = urlsplit(base_url)
        host, port = httpx.URL(base_url).host, parts.port
        is_plain = "@" not in parts.netloc and not parts.query and not parts.fragment and parts.scheme in {"http", "https"}
    except (ValueError, httpx.InvalidURL):
        host, port, is_plain = "", None, False
    if not host or not is_plain:
        raise errors.WrongAccess(
            f"the base URL is not an address like {BASE_URLS[PUBLIC]}; a user, a query and a fragment are not for it"
        )
    if parts.scheme == "http" and not _is_here(host):
        raise errors.WrongAccess(
            "the base URL is http:// to another machine, and the token would travel readable; use https://"
        )
    shown = f"[{host}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}", parts.scheme == "https"


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Hush(logging.Filter):
    """Takes the token out of records: headers of an answer may hold it."""

    def __init__(self, token: Secret) -> None:
        super().__init__()
        self._token = token

    def filter(self, record: logging.LogRecord) -> bool:
        """Scrub a record, and let it pass."""
        record.msg = self._token.scrub(record.getMessage())
        record.args = ()
        return True
