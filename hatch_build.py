"""Compile the packages when they are installed editable, as pip compiles what it copies: they shall start no slower."""

from __future__ import annotations

import compileall
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("cfq_lint", "emulator")


class CompileEditable(BuildHookInterface):  # type: ignore[type-arg]
    """The hook that `tool.hatch.build.hooks.custom` names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, where `version` is "editable"."""
        del build_data
        if version == "editable":
            for package in PACKAGES:
                compileall.compile_dir(Path(self.root) / package, quiet=2)
