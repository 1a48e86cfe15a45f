"""How modules of JavaScript and TypeScript hang together: what they import and export."""

from __future__ import annotations

from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import bound_names
from cfq_lint.worker_code.tree.statements import DEFAULT, EVERYTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Links:
    """The imports and exports of a module, filled while it is read; each as in `Source`. `count` grows with each."""

    def __init__(self) -> None:
        self.imports: dict[str, tuple[str, str]] = {}
        self.exports: dict[str, tuple[str, str]] = {}
        self.stars: list[str] = []
        self.sources: list[str] = []
        self.count = 0

    def ask(self, call: n.Invoke) -> None:
        """Note the module in `require("…")` and `import("…")`."""
        source = _asked(call)
        if source is not None:
            self.sources.append(source)
            self.count += 1

    def called_for(self, target: n.Node, value: n.Node) -> None:
        """Note the names that a declaration binds to such a module, or to what it takes out of it."""
        source = _asked(value)
        if source is not None:
            is_one = isinstance(target, n.Name)
            self.imports |= {name: (source, EVERYTHING if is_one else name) for name in bound_names(target)}

    def run(self, statement: Any, source: Any) -> str:
        """Note a module that runs with this one; those of which types alone are taken do not."""
        self.count += 1
        if source is None:
            return ""
        text = _text_of(source)[1:-1]
        self.sources += [] if any(each.type == "type" for each in statement.children) else [text]
        return text

    def read_import(self, at: Any) -> None:
        """Note what an `import` statement binds."""
        source = self.run(at, at.child_by_field_name("source"))
        for clause in at.named_children:
            if clause.type == "import_require_clause":
                asked = self.run(clause, clause.child_by_field_name("source"))
                names = [each for each in clause.named_children if each.type == "identifier"]
                self.imports |= {_text_of(each): (asked, EVERYTHING) for each in names}
            for each in clause.named_children if clause.type == "import_clause" else ():
                if each.type == "identifier":
                    self.imports[_text_of(each)] = (source, DEFAULT)
                elif each.type == "namespace_import":
                    self.imports[_text_of(each.named_children[-1])] = (source, EVERYTHING)
                else:
                    self.imports |= {alias: (source, name) for name, alias in _specified(each)}

    def read_export(self, at: Any) -> None:
        """Note what an `export` statement exports."""
        source = self.run(at, at.child_by_field_name("source"))
        self.stars += [source] if any(each.type == "*" for each in at.children) else []
        for each in at.named_children:
            if each.type == "namespace_export":
                self.exports[_text_of(each.named_children[-1])] = (source, EVERYTHING)
            elif each.type == "export_clause":
                self.exports |= {alias: (source, name) for name, alias in _specified(each)}


def _text_of(at: Any) -> str:
    return str(at.text.decode("utf-8", "replace"))


def _asked(call: n.Node) -> str | None:
    match call:
        case n.Invoke(n.Name("require" | "import"), (n.Text(source), *_)):
            return source
        case _:
            return None


def _specified(clause: Any) -> Iterator[tuple[str, str]]:
    """The names in `{ a, b as c }`, each with the one that stands for it; there may be comments between them."""
    for each in clause.named_children:
        name = each.child_by_field_name("name")
        if name is not None:
            yield _text_of(name), _text_of(each.child_by_field_name("alias") or name)
