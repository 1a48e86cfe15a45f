"""The pages in Chromium: they fit, load nothing, print, and axe-core finds nothing, in light and dark, on a phone and on a desk."""

from __future__ import annotations

import pytest

from cfq_lint.checklist import html as checklist_html
from cfq_lint.estimate import html as estimate_html
from tests.emulator.server.browsers import axe_faults, browser
from tests.lint.outputs.test_audit_page import HELD, page

from .support import ACCEPTANCE
from .test_outputs import both, evil


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    projects = {"environments": both(ACCEPTANCE / "environments"), "evil": evil(tmp_path_factory.mktemp("evil"))}
    for name, (listed, estimated) in projects.items():
        for kind, text in (("list", checklist_html.render(listed)), ("estimate", estimate_html.render(estimated))):
            file = folder / f"{name}-{kind}.html"
            file.write_text(text, encoding="utf-8")
            made[file.stem] = file.as_uri()
    file = folder / "audit.html"
    file.write_text(page(HELD), encoding="utf-8")
    return {**made, "audit": file.as_uri()}


SCREENS = ((360, "light", "rgb(244, 246, 249)"), (1280, "dark", "rgb(17, 20, 26)"))


def test_the_pages_fit_and_axe_finds_nothing(chromium, pages):
    context = chromium.new_context(bypass_csp=True)
    for name, url in pages.items():
        page = context.new_page()
        wrong, asked = [], []
        page.on("dialog", lambda dialog, wrong=wrong: wrong.append(dialog.message))
        page.on("pageerror", lambda error, wrong=wrong: wrong.append(str(error)))
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(url)
        for width, scheme, background in SCREENS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(media="screen", color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            for table in page.query_selector_all("section > table"):
                assert table.evaluate("each => each.scrollWidth <= each.parentElement.clientWidth"), name
            if width == 360 or "evil" not in name:  # other names, and the same page
                assert axe_faults(page) == [], (name, width)
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
            page.emulate_media(media="print")
            assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "paper is white"
        assert not wrong
        assert asked == [url], name
        page.close()
    context.close()
