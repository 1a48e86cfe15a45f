"""Prices, compared with the examples on Cloudflare's pricing page."""

from __future__ import annotations

import pytest

from cfq_lint.facts.pricing import chunks, month_usd


@pytest.mark.parametrize(
    ("messages", "size_bytes", "operations", "usd"),
    [(30 * 1_000_000, 60_000, 90_000_000, 35.60), (100_000_000, 127_000, 600_000_000, 239.60)],
    ids=["a million a day", "100 million large ones"],
)
def test_the_two_examples_of_the_page_to_the_cent(messages, size_bytes, operations, usd):
    assert messages * 3 * chunks(size_bytes) == operations
    assert round(month_usd(operations), 2) == usd


@pytest.mark.parametrize(("operations", "usd"), [(0, 0), (1_000_000, 0), (2_000_000, 0.40)])
def test_what_is_included_costs_nothing(operations, usd):
    assert month_usd(operations) == pytest.approx(usd)


@pytest.mark.parametrize(("size_bytes", "count"), [(0, 1), (63_900, 1), (63_901, 2), (65_000, 2), (127_000, 2), (127_900, 2), (128_000, 3)])
def test_each_started_64_kb_counts_metadata_included(size_bytes, count):
    assert chunks(size_bytes) == count
