"""The playground in Chromium: what it says, fixes, draws and keeps in links; offline, by keyboard, on a phone, and for everybody."""

from __future__ import annotations

import functools
import http.server
import threading
from pathlib import Path

import pytest

from cfq_lint import lint_text
from tests.emulator.server.browsers import Visit, axe_faults, browser

ROOT = Path(__file__).resolve().parents[2]
SITE, FIXTURES = ROOT / "site", ROOT / "fixtures"
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
def visit():
    """One visit for all: to start a browser and to load Python takes seconds."""
    site = Served()
    try:
        with browser() as chromium, Visit(chromium, site) as made:
            opened(made)
            yield made
    finally:
        site.stop()


def opened(visit, place=""):
    """The page, when Python is there and has said what it thinks of the text."""
    page = visit.go(f"playground/{place}")
    visit.until(READY)
    return page


READY = "document.body.dataset.ready !== undefined && document.body.dataset.lint !== undefined"


def findings(page):
    return page.locator("#findings li").evaluate_all(
        "items => items.map(each => each.querySelectorAll('button')[0].textContent)"
    )


def test_a_file_is_linted_as_it_is_typed_and_fixed(visit):
    page = visit.page
    assert findings(page) == ["CFQ203 max-retries-range", "CFQ305 dlq-name-near-miss", "CFQ109 wrong-type"]
    assert page.locator(".cm-lintRange-error").count() == 2
    page.get_by_role("button", name="Fix: write 100, the nearest that is allowed (may change the meaning)").click()
    visit.until("document.querySelector('#editor-lint .cm-content').innerText.includes('\"max_retries\": 100,')")
    page.get_by_role("button", name="Fix what is safe").click()
    visit.until("document.querySelector('#editor-lint .cm-content').innerText.includes('\"max_batch_size\": 10 }')")
    page.get_by_role("button", name="CFQ305 dlq-name-near-miss").click()
    page.get_by_role("heading", name="CFQ305 dlq-name-near-miss").wait_for()
    assert "Why it matters" in page.locator("#rule").inner_text()
    page.get_by_role("button", name="Close").click()
    assert page.locator("#rule").is_hidden()
    page.locator("#editor-lint .cm-content").fill(
        '{ "name": "😀", "queues": { "consumers": [{ "queue": "a", "max_retries": -1 }] } }'
    )
    page.get_by_role("button", name="CFQ203 max-retries-range").wait_for()
    page.get_by_role("button", name="Fix: write 0, the nearest that is allowed (may change the meaning)").click()
    visit.until("document.querySelector('#editor-lint .cm-content').innerText.includes('\"max_retries\": 0 }')")


def test_the_page_finds_what_the_command_finds(visit):
    names = {".jsonc": "wrangler.jsonc", ".toml": "wrangler.toml"}
    files = [file for file in sorted(FIXTURES.rglob("*.*")) if file.suffix in names]
    broken = ["", "{", "{ queues: 'a' }", '{ "a": Infinity, }', "[[queues", "a = 1e", '{ "queues": +1 }', '"😀" = 0x']
    texts = [*((names[file.suffix], file.read_bytes().decode("utf-8", "replace")) for file in files)]
    texts += [(name, text) for text in broken for name in names.values()]
    asked = """async (texts) => {
      const python = window.startPython(), found = [];
      for (const [id, [path, text]] of texts.entries()) {
        const answered = new Promise((then) => (python.onmessage = ({ data }) => then(data)));
        python.postMessage({ id, ask: "lint", path, text, plan: "" });
        const { answer, error } = await answered;
        found.push(error ?? answer.map((each) => [each.code, each.line, each.column, each.message]));
      }
      python.terminate();
      return found;
    }"""
    found = visit.page.evaluate(asked, texts)
    assert len(files) > 200
    for (path, text), page in zip(texts, found, strict=True):
        here = [[each.code, each.line, each.column, each.message] for each in lint_text(text, path).findings]
        assert page == here, text


def test_every_example_draws_what_happens(visit):
    page = visit.page
    page.get_by_role("tab", name="Watch messages").click()
    page.locator("#timeline svg").wait_for()
    for name in page.locator("#example option").all_inner_texts():
        page.locator("#example").select_option(name)
        visit.until("document.getElementById('status').textContent === 'ready' && !document.getElementById('run').disabled")
        said = page.locator("#output").inner_text() if page.locator("#output").is_visible() else ""
        assert "(line" not in said, (name, said)
        assert page.locator("#timeline rect").count() > 0, name
        if name == "first call wins":
            # A retry that was called first holds; and what nothing was said about is acknowledged.
            assert page.locator("#timeline text.attempt").all_text_contents() == ["1", "1", "2", "1"]
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
    page.keyboard.press("End")
    assert page.locator("#now").inner_text() == "8 min 5 s after the start"


def test_what_goes_wrong_is_said(visit):
    page = visit.page
    page.get_by_role("tab", name="Watch messages").click()
    page.locator("#timeline svg").wait_for()
    page.locator("#editor-run .cm-content").fill("x = 1\nemu.consume('nobody', max_retires=3)")
    page.keyboard.press("Control+Enter")
    page.get_by_text("(line 2)").wait_for()
    page.locator("#editor-run .cm-content").fill("while True: pass")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("stopped", exact=True).wait_for()
    visit.until("document.getElementById('status').textContent === 'ready'")


def test_it_works_offline_after_the_first_visit_and_links_carry_the_text(visit):
    page = visit.page
    page.get_by_role("tab", name="Lint a file").click()
    page.locator("#file").select_option("wrangler.toml")
    page.locator("#editor-lint .cm-content").fill('[[queues.consumers]]\nqueue = "jobs"\nmax_batch_timeout = 90\n')
    page.get_by_role("button", name="CFQ202 max-batch-timeout-range").wait_for()
    page.locator("#share-lint").click()
    visit.until("location.hash.includes('tab=lint')")
    link = page.url
    page.get_by_role("tab", name="Watch messages").click()
    page.locator("#editor-run .cm-content").fill("print('hello ' * 3)")
    page.locator("#share-run").click()
    visit.until("location.hash.includes('tab=run')")
    run_link = page.url
    visit.until("navigator.serviceWorker.controller !== null")
    visit.site.stop()
    opened(visit, run_link.partition("playground/")[2])
    assert "hello" in page.locator("#editor-run .cm-content").inner_text()
    assert page.locator("#output").is_hidden(), "what somebody else wrote is run only when it is asked for"
    page.get_by_role("button", name="Run").click()
    page.get_by_text("hello hello hello", exact=True).wait_for()
    page.goto(link)  # another link in the same page
    page.get_by_role("button", name="CFQ202 max-batch-timeout-range").wait_for()
    assert page.locator("#file").input_value() == "wrangler.toml"
    assert "max_batch_timeout = 90" in page.locator("#editor-lint .cm-content").inner_text()
    page.goto(f"{link[:-9]}%00")
    page.get_by_text("the link carries no text that can be read").wait_for()


def test_it_fits_tabs_are_reached_by_keyboard_and_axe_finds_nothing(visit):
    page = visit.page
    page.get_by_role("tab", name="Lint a file").click()
    page.locator("#file").select_option("wrangler.jsonc")
    page.locator("#editor-lint .cm-content").fill('{ "queues": { "consumers": [{ "queue": "a", "max_retries": 101 }] } }')
    page.get_by_role("button", name="CFQ203 max-retries-range").click()
    page.get_by_role("heading", name="CFQ203 max-retries-range").wait_for()
    for width, scheme in ((360, "light"), (1280, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.get_by_role("tab", name="Lint a file").focus()
        for tab in ("Lint a file", "Watch messages"):
            if tab == "Watch messages":
                page.keyboard.press("ArrowRight")
                assert page.evaluate("document.activeElement.id") == "tab-run"
                page.keyboard.press("Tab")
                assert page.evaluate("document.activeElement.id") == "example"
                page.locator("#example").select_option("retries and dead letters")
                page.locator("#timeline svg").wait_for()
                reached = []
                while "slider" not in reached and len(reached) < 12:
                    page.keyboard.press("Tab")
                    reached.append(page.evaluate("document.activeElement.id || document.activeElement.getAttribute('aria-label')"))
                assert "A consumer in Python" in reached, reached
                assert reached[-1] == "slider", reached
            assert page.get_by_role("tabpanel", name=tab).is_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, tab
            assert axe_faults(page) == [], (tab, width)
        page.get_by_role("tab", name="Watch messages").press("ArrowLeft")
