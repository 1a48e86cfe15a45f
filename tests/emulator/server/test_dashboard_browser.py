"""The dashboard in a real browser: what people see, press, hear and cannot break. Debian's Chromium, headless, on loopback."""

from __future__ import annotations

import pytest

from emulator import Emulator
from tests.emulator.server.browsers import Site, Visit, axe_faults, browser

EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script></pre><h1>owned</h1>"
REACHED = "a[href], button:not(:disabled), select, input, summary, pre"
NAMES = ["jobs", "dead", "mails", "pulled"]


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


def account():
    """An account in which everything has happened that a page can show."""
    emu = Emulator(seed=7)

    def handler(batch):
        if any(message.body.get("bad") for message in batch.messages):
            raise LookupError(EVIL)
        batch.messages[0].retry(delaySeconds=20)

    for name in ("jobs", "mails", "pulled", "short"):
        emu.create_queue(name, message_retention_period=60 if name == "short" else None)
    emu.consume("jobs", handler, max_retries=2, dead_letter_queue="dead", max_batch_timeout=1, max_batch_size=3)
    emu.consume("mails", lambda _batch: None)
    emu.consume("pulled", type="http_pull")
    for number in range(25):
        emu.queue("jobs").send({"order": number, "bad": number % 5 == 0, "text": EVIL})
        emu.queue("short").send(EVIL, content_type="text")
        emu.queue("pulled").send(b"\x00\xff", content_type="bytes")
        emu.queue("pulled").pull(1, 5_000)
        emu.advance(11)
    emu.queue("mails").send("x" * 5_000, content_type="text", delay_seconds=600)
    emu.queue("mails").pause()
    return emu


@pytest.fixture
def site():
    with Site(account(), control=True) as found:
        yield found


def views(site):
    letter = site.emulator.queue("dead").messages()[0].id
    return ["", *(f"#/queue/{name}" for name in NAMES), f"#/message/{letter}", "#/message/none", "#/queue/none"]


def test_queues_depth_age_dead_letters_and_a_timeline_are_there(chromium, site):
    with Visit(chromium, site) as visit:
        page = visit.go()
        assert page.locator("h1").inner_text() == "Queues"
        assert page.locator(".queues tbody tr").count() == 5
        row = page.locator(".queues tr", has_text="dead letters of jobs")
        depth = len(site.emulator.queue("dead"))
        assert depth > 0
        assert str(depth) in row.inner_text()
        assert page.locator(".spark").count() == 5
        page.get_by_role("link", name="dead", exact=True).click()
        page.get_by_role("heading", name="Dead letters").wait_for()
        assert page.locator(".letters > li").count() == depth
        assert "LookupError" in page.locator(".letters > li").first.inner_text()
        for kind, title in (("depth", "Depth"), ("age", "Age of the oldest message")):
            svg = page.locator(f"svg.plot.{kind}")
            assert svg.get_attribute("role") == "img"
            assert svg.get_attribute("aria-label").startswith(f"{title} from 2026-01-01 00:00:00 to ")
            assert svg.locator(".curve").get_attribute("d").count("L") > 3
        page.get_by_text("Depth as a table").click()
        assert page.locator("figure table tbody tr").first.is_visible()
        first = page.locator(".letters a").first
        id = first.inner_text()
        first.click()
        page.get_by_role("heading", name="Timeline").wait_for()
        said = page.locator(".line li").all_inner_texts()
        assert len(said) == len(site.emulator.trace(id))
        assert said[0].startswith("sent")
        assert said[-1].startswith("arrived from jobs")
        page.get_by_role("link", name="All queues").click()
        page.get_by_label("Message id").fill(id)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Timeline").wait_for()


def test_what_messages_hold_is_only_ever_text(chromium, site):
    with Visit(chromium, site) as visit:
        for place in views(site):
            page = visit.go(place)
            page.wait_for_timeout(100)
            assert "owned" not in page.title()
            assert page.locator("h1").count() == 1
            assert page.locator("main img, main script").count() == 0
        page = visit.go("#/queue/dead")
        assert "onerror" in page.locator("pre").first.inner_text()
        assert page.locator(".why").first.inner_text() == f"LookupError: {EVIL}"
        blocked = page.evaluate(
            """() => new Promise((done) => {
                addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective), { once: true });
                const script = document.createElement("div");
                try { script.innerHTML = "<b>x</b>"; } catch { return done("trusted types"); }
            })"""
        )
        assert blocked in {"trusted types", "require-trusted-types-for"}
        visit.errors.clear()  # the violation that was asked for


def test_pause_resume_purge_and_redrive_with_the_keyboard_alone(chromium, site):
    emu = site.emulator
    emu.queue("jobs").purge()
    with Visit(chromium, site) as visit:
        page = visit.go("#/queue/jobs")
        page.get_by_role("button", name="Pause delivery").focus()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Resume delivery").wait_for()
        assert visit.said() == "jobs is paused: it takes messages and delivers none."
        assert emu.queue("jobs").settings.delivery_paused
        page = visit.go("#/queue/dead")
        page.get_by_role("button", name="Redrive…").focus()
        page.keyboard.press("Space")
        dialog = page.get_by_role("dialog", name="Redrive dead?")
        dialog.wait_for()
        assert page.evaluate("document.activeElement.textContent") == "Cancel"
        page.keyboard.press("Escape")
        dialog.wait_for(state="hidden")
        assert page.evaluate("document.activeElement.textContent") == "Redrive…"
        assert len(emu.queue("dead")) > 0
        letters = len(emu.queue("dead"))
        page.keyboard.press("Enter")
        dialog.wait_for()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_text("No dead letters: every message was dealt with.").wait_for()
        assert visit.said() == f"{letters} messages redriven from dead."
        assert len(emu.queue("jobs")) == letters
        page = visit.go("#/queue/jobs")
        page.get_by_role("button", name="Purge…").click()
        page.get_by_role("dialog").get_by_role("button", name="Purge").click()
        page.get_by_text("The queue is empty.").wait_for()
        assert visit.said() == f"{letters} messages purged from jobs."
        assert page.evaluate("document.activeElement.textContent") == "Purge…"
        page.get_by_role("button", name="Resume delivery").click()
        page.get_by_role("button", name="Pause delivery").wait_for()
        assert not emu.queue("jobs").settings.delivery_paused


def test_every_control_is_reached_by_tab_and_shows_its_focus(chromium, site):
    with Visit(chromium, site) as visit:
        page = visit.go("#/queue/dead")
        page.get_by_role("button", name="Hold still").click()
        page.evaluate("document.activeElement.blur()")
        wanted = page.evaluate(f"[...document.querySelectorAll('{REACHED}')].filter((e) => e.checkVisibility()).length")
        seen = set()
        for _ in range(wanted + 3):
            page.keyboard.press("Tab")
            place, ring = page.evaluate(
                f"[[...document.querySelectorAll('{REACHED}')].indexOf(document.activeElement), getComputedStyle(document.activeElement).outlineStyle]"
            )
            if place >= 0:  # else the focus is with the browser, between the end of the page and its beginning
                assert ring == "solid", place
                seen.add(place)
        assert len(seen) == wanted
        assert page.evaluate(f"document.querySelector('{REACHED}').id") == "skip"
        page.locator("#skip").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        assert "#/queue/dead" in page.url


def test_time_is_moved_with_buttons(chromium, site):
    emu = site.emulator
    with Visit(chromium, site) as visit:
        page = visit.go()
        now = emu.now
        page.get_by_role("button", name="Advance one minute").click()
        assert visit.said().startswith("It is now ")
        assert (emu.now - now).total_seconds() == 60
        page.get_by_label("Seconds").fill("2.5")
        page.get_by_label("Seconds").press("Enter")
        visit.until("document.getElementById('now').textContent.includes('.500')")
        assert (emu.now - now).total_seconds() == 62.5
        page.get_by_role("button", name="Run until idle").click()
        visit.until("document.getElementById('said').textContent.startsWith('Nothing more is due')")


@pytest.mark.parametrize("options", [{"control": False}, {"control": True, "time": "real"}])
def test_time_has_no_buttons_where_it_may_not_be_moved(chromium, options):
    with Site(Emulator(), **options) as site, Visit(chromium, site) as visit:
        page = visit.go()
        assert page.get_by_role("button", name="Advance").count() == 0
        assert page.get_by_text("There are no queues yet.").is_visible()


def test_a_token_is_asked_for_and_kept_in_memory_only(chromium):
    emu = Emulator()
    emu.create_queue("jobs")
    with Site(emu, tokens=["sesame", "look:read"]) as site, Visit(chromium, site) as visit:
        page = visit.page
        page.goto(site.url)
        box = page.locator("#login-token")
        box.wait_for()
        assert page.evaluate("document.activeElement.id") == "login-token"
        assert box.get_attribute("type") == "password"
        page.keyboard.press("Escape")
        assert page.locator("#login").is_visible()
        box.fill("wrong")
        page.keyboard.press("Enter")
        page.get_by_text("The server does not know this token.").wait_for()
        page.locator("#login-token").fill("look")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="jobs").click()
        page.get_by_role("button", name="Pause delivery").click()
        assert visit.said().startswith("Not allowed")
        assert not emu.queue("jobs").settings.delivery_paused
        kept = page.evaluate("[localStorage.length, sessionStorage.length, document.cookie, location.href, document.body.innerHTML]")
        assert kept[:3] == [0, 0, ""]
        assert "look" not in kept[3]
        assert 'value="look"' not in kept[4]
        assert not [url for url in visit.asked if "look" in url or "wrong" in url]
        page.reload()
        page.locator("#login-token").wait_for()
        page.locator("#login-token").fill("sesame")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Pause delivery").click()
        page.get_by_role("button", name="Resume delivery").wait_for()


SCREENS = ((1280, "light", "rgb(244, 246, 249)"), (375, "dark", "rgb(17, 20, 26)"))


def test_it_fits_and_axe_finds_nothing(chromium, site):
    """axe-core's rules: names, roles, labels, contrast, order of headings. It needs the policy lifted, which others test.

    Each view is loaded once. A queue's view is of one make for all of them, so that the second screen has one of each kind.
    """
    with Visit(chromium, site, bypass_csp=True) as visit:
        allow = "{createHTML: (x) => x, createScript: (x) => x, createScriptURL: (x) => x}"
        visit.page.add_init_script(f"window.trustedTypes?.createPolicy('default', {allow})")
        for place in views(site):
            page = visit.go(place)
            for width, scheme, background in SCREENS:
                page.set_viewport_size({"width": width, "height": 900})
                page.emulate_media(color_scheme=scheme)
                page.wait_for_timeout(200)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (place, width)
                assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
                if width == 1280 or place in ("", "#/queue/jobs") or "message/" in place:
                    assert axe_faults(page) == [], (place, width)
        page = visit.go("#/queue/dead")
        page.get_by_role("button", name="Purge…").click()
        assert axe_faults(page) == []


def test_the_theme_can_be_chosen(chromium, site):
    with Visit(chromium, site) as visit:
        page = visit.go()
        page.get_by_label("Theme").select_option("Dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 20, 26)"
        page.get_by_label("Theme").select_option("System")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(244, 246, 249)"
        page.emulate_media(color_scheme="dark")
        visit.until("getComputedStyle(document.body).backgroundColor === 'rgb(17, 20, 26)'")


def test_a_refresh_leaves_focus_text_and_open_parts_alone(chromium, site):
    with Visit(chromium, site) as visit:
        page = visit.go()
        page.get_by_label("Name contains").fill("ma")
        visit.until("document.querySelectorAll('.queues tbody tr').length === 1")
        page.get_by_label("Message id").fill("half an id")
        site.emulator.queue("mails").send("another")
        visit.until("document.querySelector('.queues tbody tr').textContent.includes('5 kB')")
        page.wait_for_timeout(2_500)
        assert page.get_by_label("Message id").input_value() == "half an id"
        assert page.evaluate("document.activeElement.id") == "id"
        page = visit.go("#/queue/jobs")
        page.get_by_text("Depth as a table").click()
        page.get_by_role("button", name="Purge…").focus()
        site.emulator.queue("jobs").send({"order": "new"}, delay_seconds=500)
        page.get_by_text('"order": "new"').wait_for()
        assert page.locator("figure details").first.get_attribute("open") is not None
        assert page.evaluate("document.activeElement.textContent") == "Purge…"


def test_it_can_be_held_still(chromium, site):
    with Visit(chromium, site) as visit:
        page = visit.go("#/queue/mails")
        hold = page.get_by_role("button", name="Hold still")
        hold.click()
        assert hold.get_attribute("aria-pressed") == "true"
        asked = len(visit.asked)
        page.wait_for_timeout(2_600)
        assert len(visit.asked) == asked
        hold.click()
        page.wait_for_timeout(500)
        assert len(visit.asked) > asked


def test_a_server_that_goes_away_is_said_and_found_again(chromium, site):
    with Visit(chromium, site) as visit:
        page = visit.go()
        site.stop()
        page.get_by_role("alert").get_by_text("The server does not answer.").wait_for()
        assert page.locator(".queues tbody tr").count() == 5
        site.start()
        visit.until("document.getElementById('alert').textContent === ''")
        site.emulator.delete_queue("short")
        visit.until("document.querySelectorAll('.queues tbody tr').length === 4")


def test_what_is_gone_is_said(chromium, site):
    with Visit(chromium, site) as visit:
        page = visit.go("#/message/none")
        assert page.locator("h1").inner_text() == "Not found"
        page = visit.go("#/queue/pulled")
        site.emulator.delete_queue("pulled")
        page.get_by_role("heading", name="Not found").wait_for()
        page = visit.go("#/%E0%A4%A")
        assert page.locator("h1").inner_text() == "Queues"


def test_many_queues_are_paged_ordered_and_filtered(chromium):
    emu = Emulator()
    for number in range(120):
        queue = emu.create_queue(f"tenant-{number:03}")
        for _ in range(number % 4):
            queue.send(number)
    with Site(emu) as site, Visit(chromium, site) as visit:
        page = visit.go()
        assert page.locator(".queues tbody tr").count() == 50
        page.get_by_role("button", name="Next").click()
        page.get_by_text("tenant-050").wait_for()
        page.get_by_role("button", name="Next").click()
        page.get_by_text("tenant-119").wait_for()
        assert page.locator(".queues tbody tr").count() == 20
        assert page.get_by_role("button", name="Next").is_disabled()
        page.get_by_label("In order of").select_option("depth")
        page.get_by_text("tenant-003").wait_for()
        page.get_by_label("Name contains").fill("11")
        page.get_by_text("11 queues").wait_for()
        page.get_by_label("Name contains").fill("nothing like it")
        page.get_by_text("No queue's name contains “nothing like it”.").wait_for()


def test_a_long_body_is_shown_whole_when_asked_for(chromium, site):
    with Visit(chromium, site) as visit:
        page = visit.go("#/queue/mails")
        body = page.locator("pre").first
        assert len(body.inner_text()) == 2_002
        page.get_by_role("button", name="Show the whole body").click()
        visit.until("document.querySelector('pre').textContent.length === 5000")
        page.wait_for_timeout(2_500)
        assert len(body.inner_text()) == 5_000


def test_the_pointer_reads_a_plot(chromium, site):
    with Visit(chromium, site) as visit:
        page = visit.go("#/queue/dead")
        page.get_by_role("button", name="Hold still").click()
        box = page.locator("svg.plot.depth").bounding_box()
        page.mouse.move(box["x"] + box["width"] - 5, box["y"] + 60)
        assert page.locator("[data-reading=depth]").inner_text().endswith(f": {len(site.emulator.queue('dead'))}")
