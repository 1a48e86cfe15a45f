"""The floors of the house: a module imports what stands below it, and sideways only where the table here says so."""

from __future__ import annotations

import ast

import pytest

from cfq_lint.model.measured import QUERIES, document

from .floors import FLOORS, ROOT, with_table

FACES = {"cfq_lint": {"__init__", "__main__"}, "emulator": {"__init__", "__main__"}}
"""Modules that stand above all floors: the package's face and its entry."""
EMULATOR_MAY_USE = {"facts", "model", "worker_code", "lint_paths"}


def modules(package):
    """Every module of a package: its dotted path within the package, and its tree."""
    for file in sorted((ROOT / package).rglob("*.py")):
        parts = file.relative_to(ROOT / package).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts
        yield ".".join(parts), file, ast.parse(file.read_text(encoding="utf-8"))


def imports(tree, package, module, file):
    """Every absolute dotted name that a module imports, those inside functions and for type checkers included."""
    inside = [package, *module.split(".")]
    here = inside if file.name == "__init__.py" and module != "__init__" else inside[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            for alias in node.names:
                yield ".".join([*base, *(node.module.split(".") if node.module else []), alias.name])


def room(package, dotted):
    """The entry of FLOORS that a dotted path within a package belongs to, the longest first; None where there is none."""
    known = {name for names in FLOORS[package].values() for name in names}
    parts = dotted.split(".")
    return next((".".join(parts[:n]) for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in known), None)


def floor(package, name):
    return next(number for number, names in FLOORS[package].items() if name in names)


def rises(package):
    """Every import between two rooms of a package."""
    for module, file, tree in modules(package):
        own = room(package, module)
        if own is None:
            continue
        for name in imports(tree, package, module, file):
            if name.split(".")[0] == package:
                other = room(package, name.partition(".")[2] or "__init__")
                if other is not None and other != own:
                    yield module, own, other


@pytest.mark.parametrize("package", FLOORS)
def test_every_module_has_a_floor(package):
    homeless = [
        module
        for module, file, _ in modules(package)
        if module not in FACES[package] and room(package, module) is None and file.read_text(encoding="utf-8").count("import ")
    ]
    assert not homeless, f"place them in FLOORS: {homeless}"


@pytest.mark.parametrize("package", FLOORS)
def test_no_module_imports_from_its_own_floor_or_above(package):
    up = {(module, other) for module, own, other in rises(package) if floor(package, other) >= floor(package, own)}
    assert not up


def test_the_table_in_contributing_is_fresh():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert page == with_table(page), "run `make generate`"


@pytest.mark.parametrize("package", FLOORS)
def test_modules_import_each_other_without_a_circle(package):
    known = {module for module, _, _ in modules(package)}
    edges = {}
    for module, file, tree in modules(package):
        for name in imports(tree, package, module, file):
            parts = name.split(".")[1:] if name.split(".")[0] == package else []
            target = next((".".join(parts[:n]) for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in known), None)
            if target is not None and target != module and not (file.name == "__init__.py" and target.startswith(f"{module}.")):
                edges.setdefault(module, set()).add(target)
    done, above = set(), []

    def visit(module):
        assert module not in above, f"a circle: {' → '.join([*above[above.index(module):], module])}"
        if module not in done:
            above.append(module)
            for other in sorted(edges.get(module, ())):
                visit(other)
            above.pop()
            done.add(module)

    for module in sorted(edges):
        visit(module)


def test_the_face_is_imported_by_nobody_but_the_command_line():
    """`from cfq_lint import x` where x is no module of its own would load names through the face."""
    rooms = {name for names in FLOORS["cfq_lint"].values() for name in names}
    for module, file, tree in modules("cfq_lint"):
        for name in imports(tree, "cfq_lint", module, file):
            parts = name.split(".")
            if parts[0] == "cfq_lint" and len(parts) > 1 and parts[1] not in rooms:
                assert parts[1] == "__version__", f"{module} imports {name}"


def test_the_linter_never_imports_the_emulator():
    for module, file, tree in modules("cfq_lint"):
        assert all(name.split(".")[0] != "emulator" for name in imports(tree, "cfq_lint", module, file)), module


def test_the_emulator_takes_only_limits_and_the_view_and_lint_paths_from_the_linter():
    for module, file, tree in modules("emulator"):
        for name in imports(tree, "emulator", module, file):
            package, *rest = name.split(".")
            if package == "cfq_lint" and rest[-1] != "lint_paths":
                assert rest[0] in EMULATOR_MAY_USE, f"{module} imports {name}"


def test_the_core_of_the_emulator_knows_no_clock_chance_file_socket_or_thread():
    forbidden = {
        "asyncio", "concurrent", "io", "multiprocessing", "os", "pathlib", "queue", "random", "sched", "secrets", "select", "signal",
        "socket", "subprocess", "tempfile", "threading", "time", "uuid",
    }  # fmt: skip
    for module, file, tree in modules("emulator"):
        if module.startswith("core"):
            used = {name.split(".")[0] for name in imports(tree, "emulator", module, file)}
            assert not used & forbidden, module


def test_the_toolkit_imports_nothing_of_ours():
    for module, file, tree in modules("emulator"):
        if module.startswith("toolkit"):
            for name in imports(tree, "emulator", module, file):
                assert name.split(".")[0] != "cfq_lint", module
                assert name.split(".")[0] != "emulator" or name.startswith("emulator.toolkit"), f"{module} imports {name}"


def test_floor_zero_stands_on_the_standard_library_alone():
    import sys

    for module, file, tree in modules("cfq_lint"):
        own = room("cfq_lint", module)
        if own is not None and floor("cfq_lint", own) == 0:
            for name in imports(tree, "cfq_lint", module, file):
                top = name.split(".")[0]
                assert top == "cfq_lint" or top in sys.stdlib_module_names, f"{module} imports {name}"


def _dotted(node):
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


OF_CHILDREN = {
    "run.processes": {"sys.stdout", "sys.stderr", "os._exit"}, "workers.python.surroundings": {"os.environ"},
    "workers.javascript.toolchain": {"os.environ"},
}  # fmt: skip
"""Who forks empties the buffers before and ends its children, and still prints nothing; who keeps a Worker's environment apart
from the process's has to see both, and takes nothing from it for us; who finds what a machine has installed looks where its
cache is."""
SPOKEN = {"sys.stdout", "sys.stderr", "sys.stdin", "sys.exit", "os.environ", "os.getenv", "os._exit"}


@pytest.mark.parametrize("package", FLOORS)
def test_only_the_command_line_prints_exits_and_reads_the_environment(package):
    for module, _, tree in modules(package):
        if module.split(".")[0] in {"cli", "__main__"}:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"print", "input", "exit", "quit", "breakpoint"}, f"{module}:{node.lineno}"
            if isinstance(node, ast.Attribute):
                assert _dotted(node) not in SPOKEN - OF_CHILDREN.get(module, set()), f"{module}:{node.lineno} {_dotted(node)}"
            if isinstance(node, ast.Raise) and node.exc is not None:
                assert "SystemExit" not in ast.unparse(node.exc), f"{module}:{node.lineno}"


HEAVY = {
    "pydantic": {"run.settings", "model.facts_file", "account"}, "json5": {"source.json5_tokens"}, "typer": {"cli"}, "rich": {"cli"},
    "httpx": {"account"}, "asyncio": {"account", "cli.access", "editor.session"}, "pygls": {"editor"}, "time": {"account.pace", "editor.session", "editor.workspace"},
}  # fmt: skip


@pytest.mark.parametrize(("library", "home"), HEAVY.items(), ids=HEAVY)
def test_a_heavy_library_has_one_home(library, home):
    for module, file, tree in modules("cfq_lint"):
        if any(name.split(".")[0] == library for name in imports(tree, "cfq_lint", module, file)):
            assert room("cfq_lint", module) in home or module in home, f"{module} imports {library}"


def test_the_account_is_asked_with_get_and_queries_alone():
    """One module sends anything, and names the method itself: GET, and POST for GraphQL, of which no mutation is written."""
    methods, others = [], {"post", "put", "patch", "delete", "request", "send", "build_request", "options", "head"}
    for module, _, tree in modules("cfq_lint"):
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        methods += [ast.literal_eval(node.args[0]) for node in calls if node.func.attr == "stream"]
        if module.startswith("account") or module in {"cli.access", "cli.audit"}:
            assert not others & {node.func.attr for node in calls}, module
    assert methods == ["GET", "POST"]
    assert all(document(name).startswith(f"query {name}(") for name in QUERIES)


def test_no_rule_takes_a_value_apart_itself():
    """The view answers; a rule that writes `isinstance` or asks a plain dict knows too much of the tree."""
    for module, _, tree in modules("cfq_lint"):
        if module.startswith(("rules.cfq", "rules._")):
            for node in ast.walk(tree):
                assert not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"), module


GUARDS = {"run.engine", "cli.__init__", "cli", "cli.audit"}
"""Around a rule, around the command, and around an audit, where what is said is first cleaned of the token."""


def test_exceptions_are_caught_by_class():
    for module, _, tree in modules("cfq_lint"):
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and module not in GUARDS:
                caught = "" if node.type is None else ast.unparse(node.type)
                last = node.body[-1]
                is_raised_again = isinstance(last, ast.Raise) and last.exc is None
                assert is_raised_again or caught not in {"", "Exception", "BaseException"}, f"{module}:{node.lineno}"
