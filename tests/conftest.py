"""What all tests share: how property tests run, and how golden files are renewed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "house",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
# The same everywhere: what is red on one machine is red on another. HYPOTHESIS_PROFILE may name a profile of one's own.
settings.register_profile("ci", settings.get_profile("house"))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))

ROOT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write golden files anew; read their diff like code")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than a few seconds; runs by default")
    if config.getoption("--update-golden") and os.environ.get("CI"):
        raise pytest.UsageError("--update-golden is refused where CI is set: golden files are renewed by people, who read the diff")


@pytest.fixture
def golden(request):
    """Compare a text with a file below fixtures/golden, or write that file where the run was asked to."""

    def compare(name, text):
        file = ROOT / "fixtures" / "golden" / name
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        assert file.is_file(), f"{name} does not exist; `pytest --update-golden` writes it"
        assert text == file.read_bytes().decode(), f"{name} differs; `pytest --update-golden` renews it"

    return compare


@pytest.fixture
def change_rule(monkeypatch):
    """Give a rule another body for one test: `change_rule("legacy-env", check=…)`. What the engine remembers of rules is forgotten."""
    from cfq_lint.facts.record import replace
    from cfq_lint.rules.registry import BY_KEY, load
    from cfq_lint.run import engine

    def forget():
        for value in vars(engine).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()

    def change(name, **body):
        import sys

        rule = replace(load(BY_KEY[name]), **body)
        monkeypatch.setattr(sys.modules[f"cfq_lint.rules.{BY_KEY[name]}"], "RULE", rule)
        forget()
        return rule

    yield change
    monkeypatch.undo()
    forget()
