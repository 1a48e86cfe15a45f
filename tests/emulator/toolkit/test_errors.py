"""Which errors are worth another attempt: A1 to A9."""

from __future__ import annotations

import errno
import json
import urllib.error

import pytest

from emulator.toolkit import ErrorClass, RateLimited, RevokeTask, SkipRetry, classify, decide_retry, errors, is_error
from emulator.toolkit import errors as toolkit_errors


class Answered(Exception):  # noqa: N818 - what happened
    """An HTTP library's error."""

    def __init__(self, status, text="failed"):
        super().__init__(text)
        self.status_code = status


def test_network_errors_by_type():
    for error in (TimeoutError(), ConnectionResetError(), BrokenPipeError(), OSError(errno.ETIMEDOUT, "x"), TimeoutError("400")):
        assert classify(error) is ErrorClass.NETWORK, error


def test_network_errors_by_text():
    for text in ("timeout", "Read timed out", "ETIMEDOUT", "ECONNRESET", "connection reset by peer", "socket hang up", "Network connection lost.", "connection broken"):
        assert decide_retry(RuntimeError(text), 0).retry, text
        assert classify(RuntimeError(text)) is ErrorClass.NETWORK, text


def test_rate_limits_wait_longer():
    for error in (Answered(429), RateLimited("slow down"), RuntimeError("429 Too Many Requests"), RuntimeError("rate_limit_exceeded")):
        assert classify(error) is ErrorClass.RATE_LIMIT, error
        assert decide_retry(error, 0).delay_seconds == 60
    assert decide_retry(RateLimited("later", retry_after_seconds=500), 0).delay_seconds == 500


def test_server_errors_are_retried():
    for error in (*map(Answered, (500, 502, 503, 504, 599)), RuntimeError("temporarily unavailable"), RuntimeError("HTTP 503")):
        assert classify(error) is ErrorClass.SERVER, error
        assert decide_retry(error, 0).retry


def test_client_errors_are_not_retried():
    texts = ("400 Bad Request", "status 401", "HTTP 403", "404", "invalid format", "unsupported file type")
    for error in (*map(Answered, (400, 401, 403, 404, 422)), *map(RuntimeError, texts), PermissionError("no")):
        decision = decide_retry(error, 0)
        assert not decision.retry, error
        assert decision.delay_seconds is None
        assert decision.reason.startswith("client error: "), error


def test_a_broken_body_is_a_clients_error():
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")
    assert classify(caught.value) is ErrorClass.CLIENT


def test_unknown_errors_are_retried():
    for error in (ValueError("what?"), RuntimeError(""), "something else", KeyError("x")):
        assert classify(error) is ErrorClass.UNKNOWN
        assert decide_retry(error, 0).retry


def test_a_decision_carries_a_delay_or_a_reason():
    for error in (TimeoutError(), Answered(404), ValueError()):
        for retries in (0, 3):
            decision = decide_retry(error, retries)
            assert (decision.delay_seconds is None) == (not decision.retry) == (decision.reason is not None)


def test_used_up_attempts_are_the_reason():
    assert decide_retry(TimeoutError(), 2).retry
    assert decide_retry(TimeoutError(), 3).reason == "max retries exceeded (3)"
    assert decide_retry(TimeoutError(), 5, max_retries=5).reason == "max retries exceeded (5)"


def test_the_courses_linear_delays():
    for error, step in ((TimeoutError(), 30), (Answered(429), 60), (Answered(500), 30), (ValueError(), 30)):
        assert [decide_retry(error, k).delay_seconds for k in range(3)] == [step, 2 * step, 3 * step]


@pytest.mark.parametrize(
    "text",
    ["500 items", "could not import 500 items", "order of 404 pieces", "batch has 429 rows", "500 items in cart", "error: 500 items",
     "500 not accepted", "500 errors found", "received 500 items", "[500 items]", "paid $500", "404.5 seconds", "line 4040", "502 000 bytes", "user 401", "500% more"],
)  # fmt: skip
def test_a_number_that_counts_is_no_status(text):
    assert classify(RuntimeError(text)) is ErrorClass.UNKNOWN


@pytest.mark.parametrize(
    ("text", "status"),
    [("500", 500), ("HTTP 500", 500), ("HTTP/1.1 502 Bad Gateway", 502), ("status code: 404", 404), ("returned 503", 503),
     ("Client error '404 Not Found' for url", 404), ("Unexpected status 502 returned", 502), ("status was 500", 500), ("a status of 500", 500),
     ("[503]", 503), ("API 400: no such model", 400), ("received 502", 502),
     ("Error 401: no", 401), ("429 Too Many Requests", 429), ("got 500 from upstream", 500), ("request failed with 504.", 504)],
)  # fmt: skip
def test_a_status_in_a_text(text, status):
    assert toolkit_errors.status_in(text) == status


def test_type_and_status_come_before_text():
    assert classify(Answered(404, "timeout while looking")) is ErrorClass.CLIENT
    assert classify(TimeoutError("400 Bad Request")) is ErrorClass.NETWORK
    assert classify(Answered(503, "invalid format")) is ErrorClass.SERVER


def test_the_status_of_an_answer_that_an_error_carries():
    error = RuntimeError("x")
    error.response = Answered(503)
    assert classify(error) is ErrorClass.SERVER
    http = urllib.error.HTTPError("http://x", 404, "no", {}, None)
    assert classify(http) is ErrorClass.CLIENT
    http.close()
    exit_code = RuntimeError("x")
    exit_code.code = 2
    assert errors.status_of(exit_code) is None


def test_the_chain_is_looked_through_like_errors_is():
    error = RuntimeError("not found")
    error.__cause__, error.__context__ = SkipRetry("user"), KeyError("user")
    assert is_error(error, SkipRetry)
    assert not is_error(error, RevokeTask)
    assert not is_error(error, KeyError), "what was only being handled is no cause"


def test_groups_are_looked_into():
    group = ExceptionGroup("two", [ValueError("x"), SkipRetry("y")])
    assert is_error(group, SkipRetry)
    assert classify(ExceptionGroup("one", [TimeoutError()])) is ErrorClass.NETWORK


def test_a_chain_that_bites_its_tail_ends():
    one, other = RuntimeError("a"), RuntimeError("b")
    one.__cause__, other.__cause__ = other, one
    assert classify(one) is ErrorClass.UNKNOWN
