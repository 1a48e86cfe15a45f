"""One account of Cloudflare's API, for reading: GET, and queries of GraphQL, which no mutation can be sent as.

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
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx

from cfq_lint import __version__
from cfq_lint.account import errors
from cfq_lint.account.pace import Clock, Pace, moment, seconds_asked
from cfq_lint.account.payloads import Envelope, Queried, read_as
from cfq_lint.facts.errors import AccountError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

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
_NO_SUCH_PLACE = {404, 405}
_ANALYTICS_READ = "the token lacks the account permission Account Analytics Read, for this account"
_NOT_ALLOWED = ("not authorized", "unauthorized", "authentication error", "permission")
_NOT_HAD = ("does not have access to the path", "not available for your plan", "cannot request data older than", "wider than")
_SPENT = ("rate limiter budget depleted", "too many queries in progress")
"""What Cloudflare's GraphQL says, see developers.cloudflare.com/analytics/graphql-api/errors/."""
_T = TypeVar("_T")
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
        self._graphql, self._account = f"{base_url.rstrip('/')}/graphql", account
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
        return await self._patiently(lambda: self._asked(self._client.stream("GET", url, params=query)), self._judged)

    async def query(self, document: str, variables: dict[str, Any], data_set: str) -> list[Any]:
        """The rows of a GraphQL query about this account. Raises AccountError, NotMeasured where they are not to be had."""
        body = {"query": document, "variables": {"accountTag": self._account, **variables}}

        def judged(status: int, headers: httpx.Headers, answer: bytes) -> list[Any]:
            return self._rows(data_set, status, headers, answer)

        return await self._patiently(lambda: self._asked(self._client.stream("POST", self._graphql, json=body)), judged)

    async def _patiently(
        self, ask: Callable[[], Awaitable[tuple[int, httpx.Headers, bytes]]], judged: Callable[[int, httpx.Headers, bytes], _T]
    ) -> _T:
        """The answer, asked for again where that may help."""
        tries = 0
        while True:
            await self._pace.turn()
            tries += 1
            try:
                return judged(*await ask())
            except AccountError as error:
                await self._pace.wait(error, tries)

    async def _asked(self, request: AbstractAsyncContextManager[httpx.Response]) -> tuple[int, httpx.Headers, bytes]:
        """One request; status, headers and body of the answer."""
        try:
            async with asyncio.timeout(self._timeout), request as response:
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
        self._raise_for(status, headers)
        try:
            answer = read_as(Envelope, self._parsed(body), host, "the answer")
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

    def _raise_for(self, status: int, headers: httpx.Headers) -> None:
        """Take the clock of an answer, and raise what its status alone says."""
        host = self.host
        self._now = moment(headers.get("date")) or self._now
        if _REDIRECTS <= status < _CLIENT_ERRORS:
            raise errors.Redirected(host, status, self._target(headers.get("location", "")))
        if status == _TOO_MANY:
            raise errors.TooManyRequests(host, status, seconds_asked(headers.get("retry-after"), self.now))
        if status >= _SERVER_ERRORS:
            raise errors.ServerFailed(host, status, seconds_asked(headers.get("retry-after"), self.now))

    def _rows(self, data_set: str, status: int, headers: httpx.Headers, body: bytes) -> list[Any]:
        """The rows that an answer to a query holds, if it says yes. A part of them is no answer."""
        self._raise_for(status, headers)
        if status in _NO_SUCH_PLACE:
            raise errors.NotMeasured(self.host, status, "", "there are no analytics at this address")
        if status in _UNAUTHORIZED:
            raise errors.NotMeasured(self.host, status, "", _ANALYTICS_READ)
        answer = read_as(Queried, self._parsed(body), self.host, "the answer")
        said = self._said("; ".join(each.message or "no reason" for each in answer.errors or ()))
        if said:
            lowered = said.lower()
            if any(words in lowered for words in _SPENT):
                raise errors.TooManyRequests(self.host, _TOO_MANY, seconds_asked(headers.get("retry-after"), self.now))
            if any(words in lowered for words in _NOT_ALLOWED):
                raise errors.NotMeasured(self.host, status, said, _ANALYTICS_READ)
            if any(words in lowered for words in _NOT_HAD):
                raise errors.NotMeasured(self.host, status, said, "a shorter --window may help")
        if said or status >= _CLIENT_ERRORS:
            raise errors.Refused(self.host, status, said, (), "--no-analytics leaves the analytics out")
        accounts = answer.data.viewer.accounts if answer.data and answer.data.viewer else []
        rows = accounts[0].get(data_set) if accounts else None
        if not isinstance(rows, list):
            raise errors.AnotherShape(self.host, f"data.viewer.accounts.0.{data_set}", "not a list of rows")
        return rows

    def _parsed(self, body: bytes) -> Any:
        try:
            plain = self._token.scrub_json(json.loads(body))
        except (ValueError, RecursionError) as error:
            why = str(error) if body.strip() else "nothing came"
            raise errors.NotJson(self.host, self._said(why)) from None
        return plain

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
