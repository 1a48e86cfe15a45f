"""Rules over all files of a run: the same whatever the order of arguments and the folder of the run, one finding a mistake."""

from __future__ import annotations

import itertools
import json
import os
import random

import pytest

from cfq_lint import lint_paths

from .support import REAL, findings_of, keys_of, run


def config(*, name="w", consumers=(), producers=(), **more):
    """A wrangler file; consumers are (queue, dead-letter queue or None, settings), producers queues."""
    listed = [{"queue": q, **({"dead_letter_queue": d} if d else {}), **s} for q, d, s in consumers]
    bound = [{"binding": f"Q{number}", "queue": queue} for number, queue in enumerate(producers)]
    return json.dumps({"name": name, "queues": {"producers": bound, "consumers": listed}, **more}, indent=2)


def write(folder, files):
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def said(folder, name, **options):
    """Places and messages of one rule's findings, paths relative to the folder."""
    report = lint_paths([str(folder)], **options)
    return [(os.path.relpath(f.path, folder).replace(os.sep, "/"), f.message, f) for f in report.findings if f.name == name]


TWENTY = {
    f"apps/a{number:02}/wrangler.json{'c' if number % 2 else ''}": config(
        name=f"a{number}",
        consumers=[(f"q{number}", f"q{number}-dlq", {"max_retries": number * 6}), *([(f"q{number - 1}", None, {})] if number % 5 == 4 else [])],
        producers=[f"q{(number + 1) % 20}", f"stray{number}"],
    )
    for number in range(20)
} | {
    "apps/dlq/wrangler.toml": "".join(f'[[queues.consumers]]\nqueue = "q{number}-dlq"\ndead_letter_queue = "q{(number - 1) % 20}"\n\n' for number in range(20)),
    "apps/old/wrangler.toml": 'name = "old"\n[[queues.consumers]]\nqueue = "q3"\n',
}  # fmt: skip


def test_twenty_files_give_the_same_findings_in_any_order_of_arguments(tmp_path, monkeypatch):
    write(tmp_path, TWENTY)
    monkeypatch.chdir(tmp_path)
    wanted = keys_of(lint_paths(["."], select=["all"]))
    assert len({code for code, *_ in wanted}) >= 6
    chance = random.Random(1)
    for _ in range(8):
        order = [*TWENTY]
        chance.shuffle(order)
        assert keys_of(lint_paths(order, select=["all"])) == wanted
    assert keys_of(lint_paths(["apps/old", *[f"apps/a{number:02}" for number in range(19, -1, -1)], "apps/dlq"], select=["all"])) == wanted


def test_twenty_files_give_the_same_findings_from_another_folder(tmp_path, monkeypatch):
    write(tmp_path, TWENTY)

    def seen(where, path):
        monkeypatch.chdir(where)
        report = lint_paths([path], select=["all"])
        return [
            (f.code, os.path.relpath(os.path.abspath(f.path), tmp_path), f.line, f.column, f.message.replace(path.rstrip("/.") or "\0", ""),
             [(os.path.relpath(os.path.abspath(r.place.path), tmp_path), r.place.line) for r in f.related])
            for f in report.findings
        ]  # fmt: skip

    def without_paths(rows):
        return [(code, path, line, column, related) for code, path, line, column, _, related in rows]

    here = seen(tmp_path, "apps")
    assert here
    assert without_paths(seen(tmp_path / "apps" / "a00", "../../apps")) == without_paths(here)
    assert without_paths(seen("/", str(tmp_path / "apps"))) == without_paths(here)


def test_the_command_says_the_same_for_any_order(tmp_path):
    write(tmp_path, TWENTY)
    one = run("check", "--format", "json", *sorted(TWENTY), cwd=tmp_path)
    two = run("check", "--format", "json", *sorted(TWENTY, reverse=True), cwd=tmp_path)
    assert one.stdout == two.stdout
    assert one.returncode == two.returncode == 1


def test_two_files_in_both_orders_from_several_folders(tmp_path, monkeypatch):
    write(tmp_path, {"a/wrangler.jsonc": config(name="a", consumers=[("q", "q-dlq", {})]), "b/wrangler.jsonc": config(name="b", consumers=[("q", "q-dlq", {})])})
    monkeypatch.chdir(tmp_path)
    reports = [keys_of(lint_paths([*order])) for order in itertools.permutations(["a/wrangler.jsonc", "b"])]
    assert reports[0] == reports[1]


# --- two Workers on one queue


def test_a_queue_that_two_workers_consume_is_told_once_with_the_other_place(tmp_path):
    write(tmp_path, {"a/wrangler.jsonc": config(name="a", consumers=[("q", "d", {})]), "b/wrangler.jsonc": config(name="b", consumers=[("q", "d", {})])})
    [(path, message, finding)] = said(tmp_path, "queue-consumed-by-two-workers")
    assert path == "b/wrangler.jsonc"
    assert "11004" in message
    [related] = finding.related
    assert related.place.path.endswith("a/wrangler.jsonc")


def test_a_file_that_wrangler_never_reads_consumes_nothing(tmp_path):
    write(tmp_path, {"wrangler.jsonc": config(consumers=[("q", "d", {})]), "wrangler.toml": '[[queues.consumers]]\nqueue = "q"\ndead_letter_queue = "d"\n'})
    assert said(tmp_path, "queue-consumed-by-two-workers") == []
    assert said(tmp_path, "shadowed-config")


def test_environments_of_one_file_are_another_rule_s(tmp_path):
    text = config(consumers=[("q", "d", {})], env={"dev": {"queues": {"consumers": [{"queue": "q", "dead_letter_queue": "e"}]}}})
    write(tmp_path, {"wrangler.jsonc": text})
    assert said(tmp_path, "queue-consumed-by-two-workers") == []
    assert len(said(tmp_path, "queue-consumed-by-two-environments")) == 1


# --- dead letters


def test_a_consumer_in_another_file_takes_the_dead_letters(tmp_path):
    files = {"a/wrangler.jsonc": config(name="a", consumers=[("q", "q-dlq", {})])}
    write(tmp_path, files)
    [(_, message, finding)] = said(tmp_path, "dlq-no-consumer")
    assert "4 days" in message
    assert finding.severity == "info"
    assert "1 day" in said(tmp_path, "dlq-no-consumer", plan="free")[0][1]
    write(tmp_path, {"b/wrangler.toml": '[[queues.consumers]]\nqueue = "q-dlq"\n'})
    assert said(tmp_path, "dlq-no-consumer") == []
    assert said(tmp_path, "consumer-without-dlq") == []


def test_a_dead_letter_queue_of_another_file_needs_none_of_its_own_and_may_not_retry(tmp_path):
    write(tmp_path, {"a/wrangler.jsonc": config(consumers=[("d", None, {"max_retries": 0})])})
    assert len(said(tmp_path, "no-retries-no-dlq")) == 1
    write(tmp_path, {"b/wrangler.jsonc": config(consumers=[("q", "d", {})])})
    assert said(tmp_path, "no-retries-no-dlq") == []
    assert said(tmp_path, "consumer-without-dlq") == []


def test_a_cycle_over_several_files_is_told_once_with_its_whole_path(tmp_path):
    names = ["a", "b", "c"]
    for order in itertools.permutations(names):
        folder = tmp_path / "".join(order)
        links = dict(zip(names, [*names[1:], names[0]], strict=True))
        write(folder, {f"{place}/wrangler.jsonc": config(name=place, consumers=[(queue, links[queue], {})]) for place, queue in zip("xyz", order, strict=True)})
        [(_, message, finding)] = said(folder, "dlq-cycle")
        assert all(f"'{name}'" in message for name in names)
        assert len(finding.related) == 2


def test_two_cycles_are_two_findings_and_a_chain_is_none(tmp_path):
    write(tmp_path, {"wrangler.jsonc": config(consumers=[("a", "b", {}), ("b", "a", {}), ("c", "d", {}), ("d", "c", {}), ("x", "y", {}), ("y", "z", {}), ("z", None, {})])})
    assert len(said(tmp_path, "dlq-cycle")) == 2
    assert said(tmp_path, "dlq-self") == []


def test_a_queue_that_leads_into_a_cycle_makes_no_second_finding(tmp_path):
    write(tmp_path, {"wrangler.jsonc": config(consumers=[("lead", "a", {}), ("a", "b", {}), ("b", "a", {})])})
    assert len(said(tmp_path, "dlq-cycle")) == 1


@pytest.mark.parametrize(
    ("wrong", "right", "told"),
    [
        ("orders-dlq", "order-dlq", True), ("order-dlq", "orders-dlq", True), ("orders-dql", "orders-dlq", True), ("orders-dlz", "orders-dlq", True),
        ("orders-dlq1", "orders-dlq2", False), ("billing-dlq", "orders-dlq", False), ("orders-dlq", "orders-dlq", False),
    ],
)  # fmt: skip
def test_a_dead_letter_queue_one_slip_away_from_a_known_one_is_told(wrong, right, told, tmp_path):
    write(tmp_path, {"a/wrangler.jsonc": config(consumers=[("jobs", wrong, {})]), "b/wrangler.jsonc": config(name="b", consumers=[(right, None, {})])})
    found = said(tmp_path, "dlq-name-near-miss")
    assert bool(found) == told
    if told:
        assert f"did you mean {right!r}?" in found[0][1]
        assert found[0][2].fix.edits[0].text == f'"{right}"'
        assert found[0][2].related[0].place.path.endswith("b/wrangler.jsonc")


def test_a_producer_one_slip_away_from_a_lonely_consumer_is_told(tmp_path):
    write(tmp_path, {"a/wrangler.jsonc": config(producers=["order"]), "b/wrangler.jsonc": config(name="b", consumers=[("orders", "d", {})])})
    [(path, message, _)] = said(tmp_path, "queue-name-near-miss")
    assert path == "a/wrangler.jsonc"
    assert "did you mean 'orders'?" in message
    write(tmp_path, {"c/wrangler.jsonc": config(name="c", producers=["orders"])})
    assert said(tmp_path, "queue-name-near-miss") == []


def test_produced_here_and_consumed_there_is_in_order(tmp_path):
    write(tmp_path, {"a/wrangler.jsonc": config(producers=["q"]), "b/wrangler.jsonc": config(name="b", consumers=[("q", "d", {})])})
    assert said(tmp_path, "queue-without-consumer") == []
    assert said(tmp_path, "queue-without-producer", select=["all"]) == []
    (tmp_path / "b" / "wrangler.jsonc").unlink()
    assert len(said(tmp_path, "queue-without-consumer")) == 1


def test_findings_about_facts_say_which_fact(tmp_path):
    write(tmp_path, {"wrangler.jsonc": config(consumers=[("q", "q-dlq", {"max_retries": 10, "retry_delay": 10_000}), ("q-dlq", None, {})])})
    assert "fixed on the Free plan" in said(tmp_path, "retries-exceed-retention", plan="free")[0][1]
    assert said(tmp_path, "retries-exceed-retention") == []
    (tmp_path / "cfq-lint.toml").write_text("[queues.q]\nmessage_retention_period = 20000\n", encoding="utf-8")
    assert "20,000 seconds" in said(tmp_path, "retries-exceed-retention")[0][1]
    assert "declared" in said(tmp_path, "retries-exceed-retention")[0][1]


def test_known_queues_are_a_fact(tmp_path):
    write(tmp_path, {"wrangler.jsonc": config(consumers=[("q", "new-dlq", {})])})
    [(_, message, finding)] = said(tmp_path, "queue-not-provisioned", known_queues=["other"])
    assert "wrangler queues create q" in message
    assert finding.severity == "error"
    assert len(said(tmp_path, "dlq-created-on-deploy", known_queues=["q"])) == 1
    assert said(tmp_path, "queue-not-provisioned", known_queues=["q"]) == []
    assert said(tmp_path, "queue-not-provisioned") == []


# --- size


def test_hundreds_of_consumers_in_one_chain_are_one_cycle(tmp_path):
    chain = [(f"q{number}", f"q{number + 1}", {}) for number in range(800)]
    write(tmp_path, {"wrangler.jsonc": config(consumers=[*chain, ("q800", "q0", {})])})
    [(_, message, _)] = said(tmp_path, "dlq-cycle")
    assert "'q400'" in message


def test_real_configurations_as_one_project_do_not_depend_on_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = []
    for file in REAL:
        folder = tmp_path / file.stem.replace(".", "-")
        folder.mkdir()
        (folder / f"wrangler{file.suffix}").write_bytes(file.read_bytes())
        names.append(f"{folder.name}/wrangler{file.suffix}")
    forward, backward = lint_paths(names), lint_paths(names[::-1])
    assert keys_of(forward) == keys_of(backward)
    assert forward.files == tuple(sorted(names))


def test_findings_come_sorted_by_file_and_position(tmp_path):
    write(tmp_path, TWENTY)
    found = findings_of(run("check", "--format", "json", cwd=tmp_path))
    places = [(f["path"], f["line"], f["column"]) for f in found]
    assert places == sorted(places)
