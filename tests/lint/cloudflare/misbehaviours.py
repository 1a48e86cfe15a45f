"""What a server may do instead of answering, each with words that the message about it holds and the most requests that it costs."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from urllib.parse import quote

from .hostile import TOKEN, envelope, queue, refusal

BEARER = b64encode(f"Bearer {TOKEN}".encode()).decode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
DEEP = b"[" * 200_000


def always(status, body=None, **headers):
    """The same answer to everything."""
    return lambda handler, _request: handler.json(body if body is not None else refusal(1, "no"), status, **headers)


def text(body, status=200, kind="text/html", **headers):
    return lambda handler, _request: handler.text(body, status, kind, **headers)


def raw(data):
    return lambda handler, _request: handler.raw(data)


def pages(info=None, *, size=100):
    """Pages of ever new queues."""
    return lambda handler, request: handler.json(envelope([queue(f"q{request.page}-{n}") for n in range(size)], info and info(request)))


def same_page(info=None, size=100):
    """The same page again and again."""
    return lambda handler, request: handler.json(envelope([queue(f"q{n}") for n in range(size)], info and info(request)))


def totals(**given):
    return lambda request: {"page": request.page, "per_page": 100, "count": 100, **given}


def flood(handler, _request):
    """An answer that grows for as long as somebody reads."""
    handler.wfile.write(HEAD + b'\r\n{"success": true, "result": "')
    while True:
        handler.wfile.write(b"x" * 65_536)


def slow(handler, _request):
    """A good answer, if only it did not come a byte now and then."""
    handler.drip(HEAD + b"Content-Length: 5000\r\n\r\n" + json.dumps(envelope([])).encode())


def bad_metrics(handler, request):
    if request.lists_queues:
        handler.json(envelope([queue("orders"), queue("orders-dlq")]) | {"result_info": {"total_count": 2}})
    else:
        handler.text(b'{"success": true, "result": {"backlog_cou', kind="application/json")


GZIPPED = gzip.compress(b"x" * 100_000_000)
SHAPE = "another shape"

MISBEHAVIOURS = {
    # name: (script, words of the message, the most requests that it costs)
    "nothing for a long time": (lambda handler, _: handler.silence(), ["no whole answer within 0.3 s", "--timeout"], 2),
    "a byte now and then": (slow, ["no whole answer within 0.3 s"], 2),
    "headers without an end": (lambda handler, _: handler.drip(HEAD + b"X: y\r\n" * 1_000), ["no whole answer within 0.3 s"], 2),
    "continue and continue": (lambda handler, _: handler.drip(b"HTTP/1.1 100 Continue\r\n\r\n" * 100), ["no whole answer within 0.3 s"], 2),
    "the connection closed at once": (raw(b""), ["broke off"], 2),
    "no HTTP": (raw(b"SSH-2.0-OpenSSH_9.6\r\n"), ["broke off"], 2),
    "less than was promised": (raw(HEAD + b'Content-Length: 100\r\n\r\n{"success": true'), ["broke off"], 2),
    "half a chunk": (raw(HEAD + b'Transfer-Encoding: chunked\r\n\r\n50\r\n{"succ'), ["broke off"], 2),
    "a chunk of nonsense": (raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + TOKEN.encode() + b"\r\n"), ["broke off"], 2),
    "429": (always(429), ["HTTP 429", "1,200 requests in 5 minutes", "4 times"], 4),
    "429, wait a second": (always(429, Retry_After="1"), ["HTTP 429", "wait 1 s"], 4),
    "429, wait an hour": (always(429, Retry_After="3600"), ["HTTP 429", "wait 3,600 s", "30 s in all"], 1),
    "429, wait for years": (always(429, Retry_After="9" * 5_000), ["HTTP 429", "wait 999,999,999 s"], 1),
    "429, wait till 2099": (always(429, Retry_After="Thu, 01 Jan 2099 00:00:00 GMT"), ["HTTP 429"], 1),
    "429, till a day long past": (always(429, Retry_After="Thu, 01 Jan 1970 00:00:00 GMT"), ["HTTP 429", "wait 0 s"], 4),
    "429, wait for the token": (always(429, Retry_After=TOKEN), ["HTTP 429"], 4),
    "500": (always(500, refusal(15000, f"unknown, {TOKEN}")), ["HTTP 500", "4 times"], 4),
    "502 of a gateway": (text(f"<h1>Bad Gateway {TOKEN}</h1>".encode(), 502), ["HTTP 502"], 4),
    "503, wait two minutes": (always(503, Retry_After="120"), ["HTTP 503"], 1),
    "401": (always(401, refusal(10000, f"Authentication error {TOKEN}")), ["HTTP 401", "10000", "Queues Read"], 1),
    "403": (always(403, refusal(10023, "workers.api.error.unauthorized")), ["HTTP 403", "10023", "Queues Read"], 1),
    "403 as a page": (text(f"<p>{TOKEN}</p>".encode(), 403), ["HTTP 403", "Queues Read"], 1),
    "200 with the code of 401": (always(200, refusal(10000, "Authentication error")), ["10000", "Queues Read"], 1),
    "403 with the token as its reason": (lambda handler, _: handler.text(b"", 403, reason=TOKEN), ["HTTP 403"], 1),
    "404": (always(404, refusal(7003, f"No route for /accounts/{TOKEN}")), ["HTTP 404", "account id"], 1),
    "400": (always(400, refusal(1001, f"bad {TOKEN}; {quote(TOKEN)}; {BEARER}; {TOKEN.lower()}")), ["HTTP 400", "1001 bad [token]"], 2),
    "410 without words": (text(b"", 410), ["HTTP 410"], 1),
    "success false": (always(200, {"success": False, "errors": None, "result": None}), ["refuses (HTTP 200)"], 1),
    "success false, no words": (always(200, {"success": False, "errors": [], "result": None}), ["refuses"], 1),
    "a redirect to elsewhere": (always(302, Location=f"https://elsewhere.invalid/{TOKEN}?t={BEARER}"), ["HTTP 302", "redirects to elsewhere.invalid", "--base-url"], 1),
    "a redirect to the token": (always(307, Location=f"//{TOKEN}/"), ["HTTP 307", "redirects to [token]"], 1),
    "a redirect to another port": (always(302, Location="http://127.0.0.1:9/client/v4"), ["HTTP 302", "redirects to 127.0.0.1:9"], 1),
    "a redirect to here": (always(301, Location="/client/v5"), ["HTTP 301", "redirects to 127.0.0.1"], 1),
    "a redirect to nowhere": (always(308, Location="http://[::1"), ["broke off", "location header"], 2),
    "a redirect without a place": (always(303), ["HTTP 303"], 1),
    "304": (text(b"", 304), ["HTTP 304"], 1),
    "no JSON": (text(f"<html>welcome {TOKEN}</html>".encode()), ["not JSON"], 1),
    "nothing": (text(b""), ["not JSON", "nothing came"], 1),
    "204": (raw(b"HTTP/1.1 204 No Content\r\n\r\n"), ["not JSON"], 1),
    "truncated JSON": (text(b'{"success": true, "errors": [], "result": [{"queue_id": "a', kind="application/json"), ["not JSON"], 1),
    "truncated JSON of a backlog": (bad_metrics, ["not JSON"], 2),
    "bytes that are no text": (text(b"\xff\xfe\x00\xd8\xff" * 9, kind="application/json"), ["not JSON"], 1),
    "no end of brackets": (text(DEEP, kind="application/json"), ["not JSON"], 1),
    "a number without an end": (text(b'{"success": ' + b"1" * 10_000 + b"}"), ["not JSON"], 1),
    "a broken gzip": (text(TOKEN.encode(), Content_Encoding="gzip"), ["not JSON"], 1),
    "a list": (always(200, [1]), [SHAPE], 1),
    "a word": (always(200, TOKEN), [SHAPE], 1),
    "no success": (always(200, {"result": []}), [SHAPE, "success"], 1),
    "no result": (always(200, {"success": True}), [SHAPE, "result"], 1),
    "a queue without a name": (always(200, envelope([{"queue_id": "a"}])), [SHAPE, "result.0.queue_name"], 1),
    "an id that leads elsewhere": (always(200, envelope([queue("orders", queue_id="../../user/tokens")])), [SHAPE, "queue_id"], 1),
    "settings of another kind": (always(200, envelope([queue("orders", settings={"delivery_delay": {TOKEN: TOKEN}})])), [SHAPE, "delivery_delay"], 1),
    "fields named as the token": (always(200, envelope([queue("orders", consumers=[{"settings": TOKEN}])])), [SHAPE], 1),
    "a negative retention": (always(200, envelope([queue("orders", settings={"message_retention_period": -1})])), [SHAPE, "retention"], 1),
    "more than anybody reads": (flood, ["more than 1,000,000 bytes"], 1),
    "a gzip that explodes": (text(GZIPPED, Content_Encoding="gzip"), ["more than 1,000,000 bytes"], 1),
    "pages without an end": (pages(), ["without an end", "10,000"], 101),
    "pages without an end, and a total": (pages(totals(total_pages=10**6)), ["without an end", "10,000"], 101),
    "a total that no account has": (pages(totals(total_count=10**9)), ["without an end", "10,000"], 1),
    "small pages without an end": (pages(size=1), ["without an end", "500 pages"], 500),
    "a page that repeats": (same_page(), ["page 2 repeats"], 2),
    "a page that repeats, and a total": (same_page(totals(total_pages=99, total_count=9_900)), ["page 2 repeats"], 2),
    "an empty page too early": (same_page(totals(total_pages=3, total_count=250), size=0), ["says that there are 250 queues and lists 0"], 1),
    "fewer than the total": (same_page(totals(total_pages=1, total_count=101)), ["101 queues and lists 100"], 1),
}  # fmt: skip
