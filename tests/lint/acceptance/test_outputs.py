"""Text, JSON and pages: complete, of the shape that the schema says, and never anybody's markup or control characters."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import jsonschema
import pytest

from cfq_lint.checklist import html as checklist_html
from cfq_lint.checklist import json as checklist_json
from cfq_lint.checklist import judge
from cfq_lint.checklist import text as checklist_text
from cfq_lint.estimate import html as estimate_html
from cfq_lint.estimate import json as estimate_json
from cfq_lint.estimate import text as estimate_text
from cfq_lint.estimate.reckoning import estimate
from cfq_lint.model.account_facts import DeclaredLoad
from cfq_lint.report.schemas import as_text

from .support import ACCEPTANCE, project, write

LOAD = DeclaredLoad(rate_per_second=500.0, message_size_bytes=2_000, failure_share=0.03, processing_seconds=2.0)
PROJECTS = [("good", "account.json"), ("bad", None), ("source_example", None), ("environments", None), ("monorepo", None)]
EVIL = "a<script>alert(1)</script>\"'&\x1b[31m\u202e"


def both(folder, facts=None):
    """The list and the estimate of a folder."""
    made = project(folder, facts=facts)
    return judge(made), estimate(made, LOAD)


def evil(folder):
    """A project in which everything that people name is markup and control characters."""
    name = json.dumps(EVIL)
    config = f'{{ "name": {name}, "main": "<b>.js", "queues": {{ "consumers": [{{ "queue": {name}, "dead_letter_queue": {json.dumps(EVIL + "2")}, "max_retries": {name} }}] }} }}'
    quoted = json.dumps(EVIL).replace("\\u001b", "\\u001B")
    settings = f'[queues.{quoted}]\nidempotency_key = {quoted}\nmetrics.dead_letter_depth = {quoted}\n[queues.{json.dumps(EVIL + "2")}]\nalert = {quoted}\n'
    return both(write(folder, {"wrangler.jsonc": config, "cfq-lint.toml": settings}))


class Page(HTMLParser):
    """What a page is made of: elements that are open, names, ids, targets, and what could load something."""

    VOID = ("meta", "br", "hr", "link", "img")

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.targets, self.loads, self.labels = [], [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name == "href":
                self.targets.append(value)
            elif name in {"src", "srcset", "action", "data", "poster"} or name.startswith("on") or name == "style":
                self.loads.append((tag, name, value))
            elif name == "aria-labelledby":
                self.labels.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(text):
    """A page that holds together: everything closed, no id twice, every target there, no script, nothing loaded."""
    page = Page(text)
    assert not page.open
    assert len(page.ids) == len(set(page.ids))
    assert not page.loads
    assert {"script", "iframe", "img", "link", "object"}.isdisjoint(page.tags)
    assert page.tags.count("main") == page.tags.count("h1") == page.tags.count("header") == 1
    assert set(page.labels) <= set(page.ids)
    for target in page.targets:
        assert target.startswith("https://developers.cloudflare.com/") or target.removeprefix("#") in page.ids
    assert not re.search(r"url\(|@import", text)
    return page


@pytest.mark.parametrize(("name", "facts"), PROJECTS)
def test_pages_hold_together(name, facts):
    listed, made = both(ACCEPTANCE / name, facts)
    page = checked(checklist_html.render(listed))
    assert page.tags.count("article") == 10
    checked(estimate_html.render(made))


@pytest.mark.parametrize(("name", "facts"), PROJECTS)
def test_json_has_the_shape_of_its_schema(name, facts):
    listed, made = both(ACCEPTANCE / name, facts)
    for what, text in (("checklist", checklist_json.render(listed)), ("estimate", estimate_json.render(made, problems=("x",)))):
        schema = json.loads(as_text(what))
        closed = json.loads(re.sub(r'"type": "object", "required"', '"type": "object", "additionalProperties": false, "required"', json.dumps(schema)))
        jsonschema.Draft202012Validator(closed).validate(json.loads(text))
        assert text.isascii()
        assert text.endswith("\n")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize(("name", "facts"), PROJECTS)
def test_text_is_as_wide_as_the_terminal_and_colour_changes_no_word(name, facts, width):
    listed, made = both(ACCEPTANCE / name, facts)
    for render, what in ((checklist_text.render, listed), (estimate_text.render, made)):
        plain = render(what, width=width)
        assert re.sub(r"\x1b\[[0-9;]*m", "", render(what, colour=True, width=width)) == plain
        if width >= 60:
            long = [line for line in plain.splitlines() if len(line) > width and " " in line.strip()]
            assert not [line for line in long if len(max(line.split(), key=len)) < width // 2]


def test_nothing_that_people_name_becomes_markup_or_steers_a_terminal(tmp_path):
    listed, made = evil(tmp_path)
    for text in (checklist_html.render(listed), estimate_html.render(made)):
        checked(text)
        assert "<script>alert" not in text
        assert "&lt;script&gt;" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    for text in (checklist_text.render(listed), estimate_text.render(made)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    for text in (checklist_json.render(listed), estimate_json.render(made)):
        assert json.loads(text)
        assert "\x1b" not in text


def test_an_empty_project_is_said(tmp_path):
    listed, made = both(write(tmp_path, {"wrangler.toml": 'name = "w"\n'}))
    assert "no file names a queue" in checklist_text.render(listed)
    assert "no file names a queue" in estimate_text.render(made)
    checked(checklist_html.render(listed))
    checked(estimate_html.render(made))


def test_verdicts_are_told_by_words_and_signs_not_by_colour_alone():
    text = checklist_html.render(both(ACCEPTANCE / "source_example")[0])
    for sign, word in (("✓", "pass"), ("✗", "fail"), ("?", "unknown")):
        assert f'<span aria-hidden="true">{sign}</span> {word}</span>' in text
    assert "FAIL" in checklist_text.render(both(ACCEPTANCE / "bad")[0])


def test_the_wording_promises_nothing():
    """What is said is no more than is known: no exactly once, no guarantee, nothing that cannot be lost."""
    for name, facts in PROJECTS:
        listed, made = both(ACCEPTANCE / name, facts)
        for text in (checklist_text.render(listed), estimate_text.render(made)):
            assert not re.search(r"exactly once|guarantee|never lost|no loss|cannot be lost|safe\b", text, re.IGNORECASE)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_list_begins_with_a_matrix_of_queues_and_items(width):
    listed, _ = both(ACCEPTANCE / "monorepo")
    sum_, empty, heads, *rest = checklist_text.render(listed, width=width).splitlines()
    assert re.match(r"\d+ pass, \d+ fail, \d+ unknown", sum_)
    assert not empty
    assert heads.replace(" ", "") == "12345678910"
    rows = rest[: len(listed.queues)]
    for line, (queue, verdicts) in zip(rows, listed.matrix, strict=True):
        assert len(line) <= width
        assert line.startswith(queue[: width - 22])
        cells = line.split()[-10:]
        assert [cell[0] for cell in cells] == [{"pass": "o", "fail": "F", "unknown": "?", "not asked": "-"}[each] for each in verdicts]


def test_the_matrix_holds_the_answers_and_is_the_same_everywhere():
    listed, _ = both(ACCEPTANCE / "environments")
    matrix = json.loads(checklist_json.render(listed))["matrix"]
    assert [row["queue"] for row in matrix] == list(listed.queues)
    for row, (_, verdicts) in zip(matrix, listed.matrix, strict=True):
        assert list(row["verdicts"].values()) == list(verdicts)
    for column, item in enumerate(listed.items):
        for each in item.answers:
            assert dict(listed.matrix)[each.queue][column] == each.verdict
    page = checklist_html.render(listed)
    for verdict in ("pass", "fail", "unknown"):
        assert page.count(f'role="img" aria-label="{verdict}"') == sum(verdicts.count(verdict) for _, verdicts in listed.matrix)
