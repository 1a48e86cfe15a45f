"""`sys` for a Worker's own modules: they run on `emscripten`, and find the runtime's modules among `sys.modules`.

That is how Python code asks whether it runs in Pyodide: https://pyodide.org/en/stable/usage/faq.html (How to detect).
"""

from __future__ import annotations

import sys
from collections import ChainMap
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class WorkerSys(ModuleType):
    """Python's own `sys`, but for `platform` and `modules`. What is set on it, is set on that."""

    def __init__(self, runtime: Mapping[str, ModuleType]) -> None:
        super().__init__("sys", sys.__doc__)
        self.__dict__.update(platform="emscripten", modules=ChainMap({**runtime, "sys": self}, sys.modules))

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(sys, name, value)
