"""A server in a thread, and Debian's Chromium to look at it. Nothing is installed here: CI does that, and elsewhere the tests
say what they miss."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

import pytest
import uvicorn

from emulator.server import Service, create_app
from tests.emulator.server.servers import free_port

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@contextlib.contextmanager
def browser():
    """A headless Chromium. Says what to install where it, or Playwright's Python package, is missing."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("the dashboard is tested with Playwright: install the extra `browser`")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is missing: `apt-get install chromium`, or name another one in CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield chromium
        finally:
            chromium.close()


class Site:
    """A service on a loopback port, in a thread. It can be stopped and started again on the same port."""

    def __init__(self, emulator, **options):
        self.service = Service(emulator, **options)
        self.emulator = emulator
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.app = create_app(self.service)
        self.start()

    def start(self):
        """Serve, and wait until the port is open."""
        dated = self.service.time.speed == 1
        options = {"date_header": dated, "ws": "none", "http": "h11", "lifespan": "off", "log_config": None, "access_log": False, "loop": "asyncio"}
        self._server = uvicorn.Server(uvicorn.Config(self.app, "127.0.0.1", self.port, timeout_graceful_shutdown=1, **options))
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        until = time.monotonic() + 30
        while not self._server.started:
            assert time.monotonic() < until, "the server did not start"
            assert self._thread.is_alive(), "the server has ended"
            time.sleep(0.01)

    def stop(self):
        """End, and wait for the end."""
        self._server.should_exit = True
        self._thread.join(30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.service.close()


def axe_faults(page):
    """What axe-core finds on a page: rules, each with the first places. It needs the page's policy lifted."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="accessibility is tested with axe: install the extra `browser`")
    return [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in axe.Axe().run(page).response["violations"]]


class Visit:
    """A page of its own, with everything that went wrong on it: what scripts threw, and what was asked of other hosts."""

    def __init__(self, chromium, site, *, width=1280, scheme="light", **context):
        self.site = site
        self.context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.errors, self.asked = [], []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._console)
        self.page.on("dialog", lambda dialog: self.errors.append(f"a dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def _console(self, message):
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    def go(self, place=""):
        """Open a view, and wait for its heading."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.site.url}/{place}")
        self.page.locator("h1").wait_for()
        return self.page

    def said(self):
        """What the page said last to everybody, screen readers included."""
        self.until("document.getElementById('said').textContent !== ''")
        return self.page.locator("#said").inner_text()

    def until(self, expression):
        """Wait until a JavaScript expression holds. The page's policy lets nobody evaluate in it, Playwright's own wait included."""
        until = time.monotonic() + 30
        while not self.page.evaluate(expression):
            assert time.monotonic() < until, expression
            self.page.wait_for_timeout(50)

    def check(self):
        """Nothing went wrong, and nobody else was asked."""
        assert not self.errors, self.errors
        assert [url for url in self.asked if not url.startswith((self.site.url, "about:"))] == []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.check()
        self.context.close()
