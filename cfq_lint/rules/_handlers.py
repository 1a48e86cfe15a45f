"""Whether a source defines a queue handler at all: what rules about a missing one ask first."""

from __future__ import annotations

import re

_DEFINITION = r"\bdef (?:on_)?queue\b|\bqueue\s*\([^(){}]{0,200}\)\s*(?::[^(){};]{0,200})?\{"
"""A function or method of that name, in either language: where one is defined, nothing is certain, and no parser is needed."""


def defines_queue_handler(text: str) -> bool:
    """Whether something in a source, JavaScript or Python, is defined that may be a queue handler."""
    return re.search(_DEFINITION, text) is not None
