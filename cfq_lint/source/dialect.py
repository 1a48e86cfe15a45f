"""How a configuration that is no wrangler file speaks: its own words for wrangler's keys, and where its things are addressed.

Every kind of configuration becomes the same tree, with wrangler's keys. Rules speak in these; a dialect turns what they say
back into the words of the file, and drops what does not hold there.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.source.node import Node

FOREIGN = "\ue000"
"""Ends a key that is spelt as wrangler spells it where the file must not: so it is no known key, and near to one."""
_NUMBER = re.compile(r"-?[0-9][0-9_]*(\.[0-9]+)?")
_PATH = re.compile(r"(?:env\.([^\s`'\"]+?)\.)?queues\.(consumers|producers)\[(\d+)\]")
_ENVIRONMENT = re.compile(r"`?\benv\.([^\s`'\",;:]*[^\s`'\",;:.])`?")
_ESCAPED = "\\ue000"


_TIMEOUT = "max_wait_time_ms"
_SECONDS = "0 to 60 seconds"
_MILLISECONDS = "0 to 60000 milliseconds"


@record
class Dialect:
    """The words of one file.

    `words` are its keys by wrangler's; `entries` say what a consumer and a producer are called, `environment` what one of `env`
    is, and `top` what is in none. `passed_over` are the starts of the modules of rules that judge what only wrangler's own
    files have. `addresses` are the starts of spans, in order, with the address of the resource there ("" outside of one).
    `edits_numbers` says that a fix may replace one number by another; no other edit is safe. `unknown` counts the values that
    only running the code, or applying the plan, would tell. `replaced` are the spans of the resources that a plan deletes and
    makes again, with the kind of each.
    `contexts` are the mode and `isPreview` that a `cloudflare.config.ts` is read with, for the top and then for each of `env`.
    """

    words: dict[str, str]
    entries: dict[str, str]
    environment: str
    passed_over: tuple[str, ...]
    addresses: tuple[tuple[int, str], ...] = ()
    edits_numbers: bool = False
    unknown: int = 0
    replaced: tuple[tuple[int, int, str], ...] = ()
    contexts: tuple[tuple[str | None, bool], ...] = ()
    top: str = "the top level"

    def address(self, start: int) -> str:
        """The address of the resource at an offset; "" where there is none."""
        index = bisect_right(self.addresses, (start, "\U0010ffff")) - 1
        return self.addresses[index][1] if index >= 0 else ""

    def say(self, message: str, start: int) -> str:
        """What a rule says of the place at that offset, in the words of the file."""
        message = _PATH.sub(self._entry, message.replace(_ESCAPED, FOREIGN))
        message = _ENVIRONMENT.sub(lambda found: self.environment.format(found[1]), message)
        message = _key_pattern(self).sub(lambda found: self.words[found[1] or found[2]], message)
        message = message.replace("the top level", self.top)
        message = message.replace("wrangler ignores it", "it is refused").replace("wrangler.jsonc", "the file")
        if _TIMEOUT in message:
            message = message.replace(_SECONDS, _MILLISECONDS)
        address = self.address(start)
        return (f"{address}: " if address else "") + message.replace(FOREIGN, "")

    def _entry(self, found: re.Match[str]) -> str:
        said = self.entries[found[2]].format(int(found[3]) + 1)
        return f"{said} of {self.environment.format(found[1])}" if found[1] else said

    def keeps(self, old: str, new: str) -> bool:
        """Whether an edit that writes `new` over `old` can be made in this file."""
        return self.edits_numbers and _NUMBER.fullmatch(old) is not None and _NUMBER.fullmatch(new) is not None

    def skips(self, module: str) -> bool:
        """Whether the rule of that module says nothing about such files."""
        return module.startswith(self.passed_over)

    def shown(self, node: Node, written: str) -> str:
        """A value as it is written, and what it comes to where that is not the same."""
        if isinstance(node.value, str) and written[1:-1] != node.value:
            return f'"{node.value}"'
        if isinstance(node.value, int | float) and _NUMBER.fullmatch(written) is None:
            return str(node.value)
        return written


def _key_pattern(dialect: Dialect) -> re.Pattern[str]:
    """Wrangler's keys where a message names them: those of several words anywhere, `queue` only where it is quoted."""
    long = "|".join(key for key in dialect.words if "_" in key)
    short = "|".join(key for key in dialect.words if "_" not in key)
    return re.compile(rf"\b({long})\b(?!{FOREIGN})|(?<=`)({short})(?=`)")
