"""What the packages promise: their public names, sorted, importable, and typed."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import cfq_lint

ROOT = Path(__file__).resolve().parents[2]


def modules_with_all():
    for package in ("cfq_lint", "emulator"):
        for file in sorted((ROOT / package).rglob("*.py")):
            if "__all__" in file.read_text(encoding="utf-8"):
                parts = file.relative_to(ROOT).with_suffix("").parts
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", [*modules_with_all()])
def test_public_names_are_sorted_and_can_be_imported(name):
    module = importlib.import_module(name)
    names = getattr(module, "__all__", [])
    assert list(names) == sorted(names)
    assert len(set(names)) == len(names)
    for each in names:
        assert getattr(module, each) is not None


def test_the_contract_s_names_are_public():
    assert {"Finding", "Report", "Severity", "lint_paths", "lint_text"} <= set(cfq_lint.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'lint_everything'"):
        _ = cfq_lint.lint_everything


def test_importing_the_package_loads_none_of_its_modules():
    code = "import sys, cfq_lint; print(sorted(m for m in sys.modules if m.startswith('cfq_lint')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "['cfq_lint']"


@pytest.mark.parametrize("package", ["cfq_lint", "emulator"])
def test_the_packages_say_that_they_are_typed(package):
    assert (ROOT / package / "py.typed").is_file()


def test_every_public_name_of_the_package_has_a_docstring():
    for name in cfq_lint.__all__:
        assert getattr(cfq_lint, name).__doc__, name


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert cfq_lint.__version__ == version("cfq-lint")
