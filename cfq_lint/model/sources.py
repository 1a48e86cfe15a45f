"""The source of a Worker: what `main` names, or what a build made that of."""

from __future__ import annotations

import os

from cfq_lint.worker_code.modules.built import Sources, is_built
from cfq_lint.worker_code.modules.module import TOO_DEEP, read
from cfq_lint.worker_code.modules.paths import join
from cfq_lint.worker_code.modules.program import Program, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfq_lint.model.wrangler import Environment, Field
    from cfq_lint.source.files import Files
    from cfq_lint.worker_code.modules.module import Module

_ENDINGS = (".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx")
_MODULES = "modules"
"""Where modules are in `Files.kept` that were read: they serve again for another text of the same file."""
_ASIDE = "aside"
_NAME_IT = "name its source in the setting `source`"


def program_of(environment: Environment, files: Files) -> Program:
    """The Worker's sources, read once for each entry: what is not there or cannot be followed is the program's `problem`."""
    path = environment.document.path
    main = environment.inherited("main")
    name = main.text if main is not None else None
    if not name and files.source is None:
        return Program("", None, f"{path} names no `main`", "name the Worker's entry in `main`")
    folder = os.path.dirname(path)
    entry = join(folder, files.source if files.source is not None else name or "")
    aliases = {each: join(folder, target) for each, target in _texts(environment.inherited("alias")).items()}
    variables = _texts(environment.fields.get("vars"))
    known: list[Program] = files.kept.setdefault((entry, tuple(aliases.items())), [])
    for each in known:
        if all(each.variables.get(asked) == variables.get(asked) for asked in each.asked):
            return each
    known.append(known[0].under(variables) if known else _read(entry, environment, files, aliases, variables))
    return known[-1]


def _read(entry: str, environment: Environment, files: Files, aliases: dict[str, str], variables: dict[str, str]) -> Program:
    folder, build = os.path.dirname(environment.document.path), _texts(environment.inherited("build"))
    command, text = build.get("command", ""), files.read(entry)
    if files.source is not None or (text is not None and entry.endswith(_ENDINGS) and not is_built(text)):
        if not entry.endswith(_ENDINGS):
            return Program(entry, None, f"{entry} is neither Python, JavaScript nor TypeScript")
        return load(entry, files.read, files.listed, aliases, variables, known=files.kept.setdefault(_MODULES, {}))
    for path in Sources(files.read, files.listed).behind(entry, folder, command):
        program = load(path, files.read, files.listed, aliases, variables, known=files.kept.setdefault(_MODULES, {}))
        if program.handlers():
            return program
    if text is not None:
        return Program(entry, None, f"{entry} is what a build wrote, and its source was not found", _NAME_IT)
    if os.path.splitext(entry)[1] and not entry.endswith(_ENDINGS):
        return Program(entry, None, f"{entry} is neither Python, JavaScript nor TypeScript")
    return Program(entry, None, f"{entry} cannot be read", f"build it, correct `main`, or {_NAME_IT}")


def renewed(kept: dict[object, Any], path: str, text: str | None) -> dict[object, Any]:
    """What stays of `Files.kept` when a file, by its absolute path, has another text.

    Programs stay where nothing can differ that was found out about them. Modules do in any case, to be read again in parts.
    Where the text does not parse, the programs are put aside for the next one.
    """
    modules: dict[str, Module] = kept.get(_MODULES, {})
    programs = {key: each for key, each in kept.items() if key not in {_MODULES, _ASIDE}}
    if _ASIDE in kept:
        programs = kept[_ASIDE][1] if kept[_ASIDE][0] == path else {}
    name = next((each for each in modules if os.path.abspath(each) == path), None)
    if name is None or text is None or is_built(text):
        return {_MODULES: modules}
    known = modules.pop(name)
    new = read(name, text, known)
    if isinstance(new, str):
        if new == TOO_DEEP:
            return {_MODULES: modules}
        modules[name] = known
        return {_MODULES: modules, _ASIDE: (path, programs)}
    modules[name] = new
    holds = all(program.renew(new) for several in programs.values() for program in several)
    return {_MODULES: modules, **programs} if holds else {_MODULES: modules}


def _texts(field: Field | None) -> dict[str, str]:
    """The texts in an object."""
    return {name: each.text for name, each in field.fields.items() if each.text is not None} if field is not None else {}
