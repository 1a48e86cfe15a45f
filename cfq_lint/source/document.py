"""A file that was read: its text, its tree, what is odd about its bytes, and what stands beside it on disk.

Reading and discovery follow wrangler: https://developers.cloudflare.com/workers/wrangler/configuration/ and its source,
workers-utils `config-helpers.ts` and `parse.ts`.
"""

from __future__ import annotations

import codecs
import os

from cfq_lint.facts.errors import Unreadable
from cfq_lint.facts.record import record
from cfq_lint.source import Fault, Node, Tree
from cfq_lint.source.text import Lines, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cfq_lint.source.dialect import Dialect
    from cfq_lint.source.files import Files

JSONC = "jsonc"
TOML = "toml"
TYPESCRIPT = "typescript"
PLAN = "terraform-plan"
CONFIG_NAME = "cloudflare.config.ts"
"""The file that `cf`, and wrangler with `--experimental-new-config`, read from the project's folder."""
NAMES = ("wrangler.json", "wrangler.jsonc", "wrangler.toml")
"""The files that wrangler looks for, in its order: each name in the folder and all folders above, then the next name."""
REDIRECT = ".wrangler/deploy/config.json"
NAMED, WITHIN, TEMPLATE, BUILT, BESIDE = "named", "within", "template", "built", "beside"
FILE_SIZE_MAX_BYTES = 10_000_000
"""No configuration is that large; what is, is not read."""
_USUAL_BYTES = 65_536
"""Most are smaller, and Python makes room for all that it is asked to read before it reads."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32 (little endian)"),
    (codecs.BOM_UTF32_BE, "UTF-32 (big endian)"),
    (codecs.BOM_UTF16_LE, "UTF-16 (little endian)"),
    (codecs.BOM_UTF16_BE, "UTF-16 (big endian)"),
)


@record
class Redirect:
    """What `.wrangler/deploy/config.json` says for a configuration file.

    `document` is that file itself. `target` is the path of the configuration that is deployed instead, None where `problem`
    says why there is none; `fault_place` is where that problem stands. `environment` is the one that the target was built for,
    None where it does not say.
    """

    document: Document
    target: str | None
    problem: str | None = None
    fault_place: Place | None = None
    environment: str | None = None


@record
class Entry:
    """The Worker's own source: the file that `main` names, as it was read."""

    path: str
    text: str


class Document:
    """One configuration file. Offsets and columns do not count a byte order mark.

    `dialect` is how it speaks, None where it speaks as wrangler does. `beside` gives the texts of modules that it imports.
    `files` reads what stands around it, None where nothing is read from disk.
    `shadowed_by` is the file that wrangler reads in its place, and `shadow_has_queues` says that it stands beside this one and
    speaks of queues.
    `apart` says why it is no part of what the project deploys together, one of NAMED (a variant for local work or a test, an
    example), WITHIN (a folder of such), TEMPLATE, BUILT and BESIDE (a wrangler file is there as well); None where it is.
    """

    __slots__ = (
        "apart",
        "bom",
        "dialect",
        "encoding_problem",
        "entry",
        "files",
        "lines",
        "path",
        "redirect",
        "shadow_has_queues",
        "shadowed_by",
        "syntax",
        "text",
        "tree",
    )

    def __init__(
        self,
        path: str,
        text: str,
        *,
        bom: bool = False,
        encoding_problem: str | None = None,
        beside: Callable[[str], str | None] | None = None,
    ) -> None:
        self.path = path
        self.text = text
        self.bom = bom
        self.encoding_problem = encoding_problem
        self.syntax = syntax_of(path, text)
        self.dialect: Dialect | None = None
        if encoding_problem:
            self.tree = Tree(None, [])
        elif self.syntax == TYPESCRIPT:
            from cfq_lint.source.cloudflare_config.worker import parse  # most runs read no such file

            self.tree, self.dialect = parse(text, path, beside)
        elif self.syntax == PLAN:
            from cfq_lint.source.terraform.plan import parse as parse_plan  # most runs read no such file

            self.tree, self.dialect = parse_plan(text)
        else:
            self.tree = parser_of(self.syntax)(text)
        self.lines = Lines(text, self.dialect)
        self.shadowed_by: str | None = None
        self.shadow_has_queues = False
        self.apart: str | None = None
        self.redirect: Redirect | None = None
        self.entry: Entry | None = None
        self.files: Files | None = None

    @property
    def faults(self) -> list[Fault]:
        """The places where the text breaks its grammar."""
        return self.tree.faults

    @property
    def whole(self) -> bool:
        """Whether the tree holds all that the text says, so that what is missing in it is missing in the file."""
        return not self.encoding_problem and all(fault.json5 for fault in self.tree.faults)

    def place(self, start: int, end: int) -> Place:
        """The place of a range of offsets."""
        return Place(self.path, self.lines, start, end)

    def at(self, node: Node) -> Place:
        """The place of a value."""
        return Place(self.path, self.lines, node.start, node.end)

    @property
    def top(self) -> Place:
        """The first position of the file, for what concerns it as a whole."""
        return Place(self.path, self.lines, 0, 0)

    def comments(self) -> list[tuple[int, int]]:
        """The spans of all comments."""
        return self.comments_of(self.text)

    def comments_of(self, text: str) -> list[tuple[int, int]]:
        """The spans of the comments in a part of the text that starts outside of strings and comments."""
        if self.syntax == TOML:
            from cfq_lint.source.toml_tables import comments  # most runs read one language only
        elif self.syntax == TYPESCRIPT:
            from cfq_lint.source.cloudflare_config.syntax import comments
        else:
            from cfq_lint.source.jsonc import comments
        return comments(text)


def from_text(path: str, text: str, beside: Callable[[str], str | None] | None = None) -> Document:
    """The document of a text, which may begin with a byte order mark; `beside` is as in `from_bytes`."""
    bom = text.startswith("\ufeff")
    return Document(path, text[1:] if bom else text, bom=bom, beside=beside)


def syntax_of(path: str, text: str) -> str:
    """The language of a file: by its ending, and what Terraform shows by the keys that all of it has."""
    if path.endswith(".toml"):
        return TOML
    if path.endswith((".ts", ".mts", ".js", ".mjs")):
        return TYPESCRIPT
    is_terraform = '"format_version"' in text and ('"planned_values"' in text or '"terraform_version"' in text)
    return PLAN if is_terraform else JSONC


def parser_of(syntax: str) -> Callable[[str], Tree]:
    """The reader of a language, loaded when the first file in it turns up."""
    if syntax == TOML:
        from cfq_lint.source.toml import parse  # most runs read one language only
    else:
        from cfq_lint.source.jsonc import parse
    return parse


def from_bytes(path: str, data: bytes, beside: Callable[[str], str | None] | None = None) -> Document:
    """The document of a file's bytes. Never raises: bytes that are not UTF-8 make a document that says so and holds no text.

    `beside` gives the text of a file that this one imports, by a path that starts where `path` does.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return Document(path, "", encoding_problem=f"the file is {name}; wrangler reads UTF-8 only")
    bom = data.startswith(codecs.BOM_UTF8)
    if bom:
        data = data[len(codecs.BOM_UTF8) :]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        guessed = _guess(data)
        line = data.count(b"\n", 0, error.start) + 1
        said = f"the file is {guessed}" if guessed else f"byte 0x{data[error.start]:02x} in line {line} is not UTF-8"
        return Document(path, "", bom=bom, encoding_problem=f"{said}; wrangler reads UTF-8 only")
    guessed = _guess(data)
    if guessed:
        return Document(path, "", bom=bom, encoding_problem=f"the file is {guessed}; wrangler reads UTF-8 only")
    return Document(path, text, bom=bom, beside=beside)


def _guess(data: bytes) -> str | None:
    """UTF-16 without its mark, or no text at all; both show by their zero bytes, which no configuration holds."""
    head = data[:64]
    if b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if odd > len(head) // 3 and even == 0:
        return "UTF-16 (little endian, without a mark)"
    if even > len(head) // 3 and odd == 0:
        return "UTF-16 (big endian, without a mark)"
    return "binary, not text"


def read(path: str, shown: str | None = None) -> Document:
    """Read a file. `shown` is the name that findings carry. Raises Unreadable, which says why."""
    shown = shown if shown is not None else path.replace(os.sep, "/")
    try:
        with open(path, "rb", buffering=0) as file:  # pathlib costs a cold start more than it serves
            data = file.read(_USUAL_BYTES)
            while len(data) <= FILE_SIZE_MAX_BYTES and (more := file.read(_USUAL_BYTES)):
                data += more
    except (OSError, ValueError) as error:  # a path with a zero character is a ValueError
        raise Unreadable(f"{shown}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > FILE_SIZE_MAX_BYTES:
        raise Unreadable(f"{shown}: cannot be read: larger than {FILE_SIZE_MAX_BYTES:,} bytes, which no configuration is")
    return from_bytes(shown, data, None if shown != path.replace(os.sep, "/") else _text_at)


def _text_at(path: str) -> str | None:
    """The text of a file, None where it cannot be read or is no configuration by its size."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(FILE_SIZE_MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    return text if len(text) <= FILE_SIZE_MAX_BYTES else None
