"""The page in a real browser: nothing is asked of anybody, nothing runs over the edge, and what is seen can also be read."""

from __future__ import annotations

import pytest

from emulator.simulate.output import page
from emulator.simulate.output import sweep_table as outline
from emulator.simulate.scenario import MESSAGE
from emulator.simulate.settings import with_value
from emulator.simulate.sweep import simulate, slim
from tests.emulator.server.browsers import axe_faults, browser
from tests.emulator.simulation.scenarios import scenario

CASE = scenario(seconds=600, rate=20, outage=(100, 200), mode=MESSAGE)._replace(label='<b onload="x">"evil" & long-' + "x" * 120)


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages():
    other = with_value(CASE, "max_retries", 100)
    reports = [simulate(CASE, "batched"), simulate(other, "batched")]
    rows = [outline.row({"max_retries": n}, slim(simulate(with_value(CASE, "max_retries", n), "batched"))) for n in (0, 1, 3)]
    return {"one": page.page(reports[:1]), "two": page.page(reports), "sweep": page.sweep_page(rows, reports[0])}


@pytest.mark.parametrize("name", ["one", "two", "sweep"])
def test_pages_fit_and_are_accessible(chromium, pages, tmp_path, name):
    (tmp_path / "page.html").write_text(pages[name], encoding="utf-8")
    context = chromium.new_context(bypass_csp=True)
    view = context.new_page()
    asked, errors = [], []
    view.on("request", lambda request: asked.append(request.url))
    view.on("pageerror", lambda error: errors.append(str(error)))
    view.goto((tmp_path / "page.html").as_uri())
    assert view.locator("svg[role=img]").count() >= 3
    assert view.locator("h1 b").count() == 0
    if name != "sweep":
        view.locator("summary").first.focus()
        view.keyboard.press("Enter")
        assert view.locator("details[open] table").first.is_visible()
    for width, scheme in ((360, "light"), (1280, "dark")):
        view.set_viewport_size({"width": width, "height": 900})
        view.emulate_media(color_scheme=scheme)
        assert view.evaluate("document.documentElement.scrollWidth") <= width
        assert axe_faults(view) == []
    assert not errors
    assert len(asked) == 1
    context.close()
