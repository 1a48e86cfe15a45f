"""The playground in Chromium: what it says, fixes, draws and keeps in links; offline, by keyboard, on a phone, and for everybody."""

from __future__ import annotations

import functools
import http.server
import threading
from pathlib import Path

import pytest

from tests.emulator.server.browsers import Visit, browser

SITE = Path(__file__).resolve().parents[2] / "site"
pytestmark = pytest.mark.skipif(not (SITE / "playground" / "index.html").exists(), reason="`make playground` builds the page")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Served:
    """The built site on a loopback port."""

    def __init__(self):
        handler = functools.partial(Quiet, directory=str(SITE))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def served():
    site = Served()
    yield site
    site.stop()


@pytest.fixture(scope="module")
def shared(chromium, served):
    """One visit for several tests: to load Python takes seconds."""
    with Visit(chromium, served) as visit:
        opened(visit)
        yield visit


def opened(visit, place=""):
    """The page, when Python is there and has said what it thinks of the text."""
    page = visit.go(f"playground/{place}")
    visit.until("document.body.dataset.ready !== undefined && document.body.dataset.lint !== undefined")
    return page


def findings(page):
    return page.locator("#findings li").evaluate_all(
        "items => items.map(each => each.querySelectorAll('button')[0].textContent)"
    )


def test_a_file_is_linted_as_it_is_typed_and_fixed(shared):
    visit, page = shared, shared.page
    assert findings(page) == ["CFQ203 max-retries-range", "CFQ305 dlq-name-near-miss", "CFQ109 wrong-type"]
    assert page.locator(".cm-lintRange-error").count() == 2
    page.get_by_role("button", name="Fix: write 100, the nearest that is allowed (may change the meaning)").click()
    visit.until("document.querySelector('#editor-lint .cm-content').innerText.includes('\"max_retries\": 100,')")
    page.get_by_role("button", name="Fix what is safe").click()
    visit.until("document.querySelector('#editor-lint .cm-content').innerText.includes('\"max_batch_size\": 10 }')")
    page.get_by_role("button", name="CFQ305 dlq-name-near-miss").click()
    page.get_by_role("heading", name="CFQ305 dlq-name-near-miss").wait_for()
    assert "Why it matters" in page.locator("#rule").inner_text()
    page.locator("#editor-lint .cm-content").fill(
        '{ "name": "😀", "queues": { "consumers": [{ "queue": "a", "max_retries": -1 }] } }'
    )
    page.get_by_role("button", name="CFQ203 max-retries-range").wait_for()
    page.get_by_role("button", name="Fix: write 0, the nearest that is allowed (may change the meaning)").click()
    visit.until("document.querySelector('#editor-lint .cm-content').innerText.includes('\"max_retries\": 0 }')")


def test_a_link_carries_the_text_and_nothing_is_run_from_one(chromium, served):
    with Visit(chromium, served) as visit:
        page = opened(visit)
        page.locator("#file").select_option("wrangler.toml")
        page.get_by_role("button", name="CFQ202 max-batch-timeout-range").wait_for()
        page.get_by_role("button", name="Copy a link").first.click()
        visit.until("location.hash.includes('text=')")
        link = page.url
        page.get_by_role("tab", name="Watch messages").click()
        page.locator("#timeline svg").wait_for()
        page.locator("#editor-run .cm-content").fill("print('hello ' * 3)")
        page.locator("#share-run").click()
        visit.until("location.hash.includes('tab=run')")
        run_link = page.url
    with Visit(chromium, served) as visit:
        page = opened(visit, link.partition("playground/")[2])
        assert page.locator("#file").input_value() == "wrangler.toml"
        assert 'dead_letter_queue = "orders"' in page.locator("#editor-lint .cm-content").inner_text()
    with Visit(chromium, served) as visit:
        page = opened(visit, run_link.partition("playground/")[2])
        assert "hello" in page.locator("#editor-run .cm-content").inner_text()
        assert page.locator("#output").is_hidden(), "what somebody else wrote is run only when it is asked for"
        page.get_by_role("button", name="Run").click()
        page.get_by_text("hello hello hello", exact=True).wait_for()


def test_every_example_draws_what_happens(shared):
    visit, page = shared, shared.page
    page.get_by_role("tab", name="Watch messages").click()
    page.locator("#timeline svg").wait_for()
    for name in page.locator("#example option").all_inner_texts():
        page.locator("#example").select_option(name)
        visit.until("document.getElementById('status').textContent === 'ready' && !document.getElementById('run').disabled")
        said = page.locator("#output").inner_text() if page.locator("#output").is_visible() else ""
        assert "(line" not in said, (name, said)
        assert page.locator("#timeline rect").count() > 0, name
    # The last: backoff by attempts, five deliveries and then an acknowledgement.
    assert page.locator("#timeline text.attempt").all_text_contents() == ["1", "2", "3", "4", "5"]
    slider = page.locator("#slider")
    slider.focus()
    page.keyboard.press("Home")
    assert page.locator("#now").inner_text() == "at the start"
    assert page.locator("#state tbody td").all_inner_texts()[:2] == ["calls", '{"to":"a service that wakes up late"}']
    page.keyboard.press("ArrowRight")
    assert page.locator("#now").inner_text() == "5 s after the start"
    assert "(attempt 1)" in page.locator("#state").inner_text()


def test_what_goes_wrong_is_said(shared):
    visit, page = shared, shared.page
    page.get_by_role("tab", name="Watch messages").click()
    page.locator("#timeline svg").wait_for()
    page.locator("#editor-run .cm-content").fill("x = 1\nemu.consume('nobody', max_retires=3)")
    page.keyboard.press("Control+Enter")
    page.get_by_text("(line 2)").wait_for()
    page.locator("#editor-run .cm-content").fill("while True: pass")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("stopped", exact=True).wait_for()
    page.get_by_role("tab", name="Lint a file").click()
    page.locator("#plan").select_option("free")
    visit.until("document.getElementById('status').textContent === 'ready'")


def test_it_works_offline_after_the_first_visit(chromium):
    site = Served()
    with Visit(chromium, site) as visit:
        page = opened(visit)
        visit.until("navigator.serviceWorker.controller !== null")
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        site.stop()
        page.reload()
        visit.until("document.body.dataset.ready !== undefined && document.body.dataset.lint !== undefined")
        page.get_by_role("tab", name="Watch messages").click()
        page.locator("#timeline svg").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
def test_it_fits_and_axe_finds_nothing(chromium, served, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="install the extra `browser`").Axe()
    with Visit(chromium, served, width=width, scheme=scheme, bypass_csp=True) as visit:
        page = opened(visit)
        page.get_by_role("button", name="CFQ203 max-retries-range").click()
        page.get_by_role("heading", name="CFQ203 max-retries-range").wait_for()
        for tab in ("Lint a file", "Watch messages"):
            page.get_by_role("tab", name=tab).click()
            if tab == "Watch messages":
                page.locator("#timeline svg").wait_for()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, tab
            found = axe.run(page)
            assert found.violations_count == 0, found.generate_report()


def test_tabs_are_reached_by_keyboard(shared):
    page = shared.page
    page.get_by_role("tab", name="Lint a file").click()
    page.get_by_role("tab", name="Lint a file").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-run"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "example"
    assert page.get_by_role("tabpanel", name="Watch messages").is_visible()
