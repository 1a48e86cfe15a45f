"""Why an account could not be read, as one tree. Each message says what happened and what to do about it.

- AccountError
  - WrongAccess: the token, the account or the address cannot be used; nothing was sent
  - Unanswered
    - NotReached: no connection
    - TimedOut: no whole answer in time
    - BrokenOff: the connection ended within the answer, or what came is no HTTP
    - NotTrusted: the certificate, or no TLS at all
  - Refused: an answer that says no
    - Unauthorized
    - NotFound
    - NotMeasured: the analytics are not for this token, or this plan; the rest goes on
    - TooManyRequests
    - ServerFailed
    - Redirected
  - NotUnderstood: an answer that says yes, and cannot be used
    - NotJson
    - AnotherShape
    - TooLarge
    - NoEnd: pages without an end
    - TooManyRows: more rows of analytics than were asked for
    - Incomplete: fewer queues than the answer promises
  - TooLong: the reading as a whole takes too long

`retries` says how often asking again may help, `wait_seconds` how long the server asks to wait before.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.errors import AccountError

WAIT_SECONDS_MAX = 30
"""How long an audit waits in all because the server said no; whoever runs it would rather know."""


class WrongAccess(AccountError):
    """The token, the account or the address cannot be used."""


class Unanswered(AccountError):
    """No answer came."""

    retries = 1


class NotReached(Unanswered):
    """There was no connection."""

    def __init__(self, host: str, why: str) -> None:
        super().__init__(f"{host} cannot be reached: {why}; check the network, a proxy (HTTPS_PROXY) and --base-url")


class TimedOut(Unanswered):
    """No whole answer came in time."""

    def __init__(self, host: str, seconds: float) -> None:
        super().__init__(f"{host} gave no whole answer within {seconds:g} s; try again later, or with a longer --timeout")


class BrokenOff(Unanswered):
    """The connection ended within the answer, or what came is no HTTP."""

    def __init__(self, host: str, why: str) -> None:
        super().__init__(f"{host} broke off its answer: {why}; try again later, and check --base-url")


class NotTrusted(Unanswered):
    """The connection cannot be made safe."""

    retries = 0

    def __init__(self, host: str, why: str) -> None:
        super().__init__(
            f"the connection to {host} is not safe: {why}. "
            "Check --base-url; where a proxy has a certificate of its own, name its authority's file in SSL_CERT_FILE"
        )


class Refused(AccountError):
    """The server said no. `status` is the HTTP status, `codes` are the API's."""

    def __init__(self, host: str, status: int, said: str = "", codes: tuple[int, ...] = (), advice: str = "") -> None:
        self.status = status
        self.codes = codes
        super().__init__(f"{host} refuses (HTTP {status}){f': {said}' if said else ''}" + (f"; {advice}" if advice else ""))


class Unauthorized(Refused):
    """The token is not known, or may not do this."""

    def __init__(self, host: str, status: int, said: str, codes: tuple[int, ...]) -> None:
        advice = (
            "a token needs the account permission Queues Read, for this account, and must not have expired; "
            "a key is the Global API Key of the e-mail beside it"
        )
        super().__init__(host, status, said, codes, advice)


class NotFound(Refused):
    """There is no such account, or no such queue any more."""

    def __init__(self, host: str, status: int, said: str, codes: tuple[int, ...]) -> None:
        advice = "check the account id (`wrangler whoami` lists yours) and --base-url"
        super().__init__(host, status, said, codes, advice)


class NotMeasured(Refused):
    """The analytics, or one data set of them, cannot be had."""

    def __init__(self, host: str, status: int, said: str, advice: str) -> None:
        super().__init__(host, status, said, (), advice)


class TooManyRequests(Refused):
    """The account's requests are limited."""

    retries = 3

    def __init__(self, host: str, status: int, wait_seconds: float | None) -> None:
        self.wait_seconds = wait_seconds
        said = "too many requests" + ("" if wait_seconds is None else f", wait {wait_seconds:,.0f} s")
        advice = (
            f"an audit tries {self.retries + 1} times and waits {WAIT_SECONDS_MAX} s in all. Cloudflare allows "
            f"{limits.API_REQUESTS:,} requests in {limits.API_WINDOW_SECONDS // 60} minutes, all tools together; try later"
        )
        super().__init__(host, status, said, (), advice)


class ServerFailed(Refused):
    """The server has a fault."""

    retries = 3

    def __init__(self, host: str, status: int, wait_seconds: float | None) -> None:
        self.wait_seconds = wait_seconds
        advice = f"an audit tries {self.retries + 1} times; try again later, https://www.cloudflarestatus.com tells of outages"
        super().__init__(host, status, "the server failed", (), advice)


class Redirected(Refused):
    """The server points elsewhere, where the token shall not go."""

    def __init__(self, host: str, status: int, target: str) -> None:
        super().__init__(
            host, status, f"it redirects to {target}", (), "no redirect is followed with a token; check --base-url"
        )


class NotUnderstood(AccountError):
    """The answer cannot be used."""


class NotJson(NotUnderstood):
    """The answer is no JSON, or not all of it."""

    def __init__(self, host: str, why: str) -> None:
        super().__init__(f"{host} answers with what is not JSON: {why}; check --base-url, or try again later")


class AnotherShape(NotUnderstood):
    """The answer is JSON, and not what the API answers."""

    def __init__(self, host: str, where: str, why: str) -> None:
        super().__init__(f"{host} answers with JSON of another shape than Cloudflare's API: {where}: {why}; check --base-url")


class TooLarge(NotUnderstood):
    """The answer is longer than any that makes sense."""

    def __init__(self, host: str, size_bytes: int) -> None:
        super().__init__(f"{host} answers with more than {size_bytes:,} bytes, and was cut off; check --base-url")


class NoEnd(NotUnderstood):
    """The list of queues has no end."""

    def __init__(self, host: str, why: str) -> None:
        super().__init__(f"{host} lists queues without an end: {why}; check --base-url")


class TooManyRows(NotUnderstood):
    """The analytics have no end."""

    def __init__(self, host: str, data_set: str, most: int) -> None:
        super().__init__(f"{host} gives more than the {most:,} rows of {data_set} that it was asked for; check --base-url")


class Incomplete(NotUnderstood):
    """The list of queues is not whole."""

    def __init__(self, host: str, promised: int, found: int) -> None:
        super().__init__(
            f"{host} says that there are {promised:,} queues and lists {found:,}; did the account just change? Try again"
        )


class TooLong(AccountError):
    """The reading as a whole takes too long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the account could not be read within {seconds / 60:g} minutes; name fewer files, or try again later")
