"""What a wrangler file says of how its Worker is built, in the form that esbuild's program takes.

https://developers.cloudflare.com/workers/wrangler/configuration/#bundling; the constants are those of wrangler 4.164.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.workers.javascript.bundling.module_rules import Rule, rules_of
from emulator.workers.javascript.bundling.node_builtins import BUILTINS, node_mode
from emulator.workers.javascript.errors import SourceRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ENDINGS = frozenset({".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs", ".jsx"})
"""How the entry of a JavaScript or TypeScript Worker ends."""
CONDITIONS = "workerd,worker,browser"
TARGET = "es2024"
_REQUIRE = (
    'import { createRequire as __cfq_createRequire } from "node:module"; '
    'const __cfq_require = __cfq_createRequire("file:///"), '
    "require = (name) => { const found = __cfq_require(name); return found?.default ?? found; };"
)
"""CommonJS code asks for Node's modules by `require`, which modules of workerd do not have; it wants what such a module exports
by default, as wrangler gives it. esbuild keeps both names free: `require` always, the other because nobody has it."""


class BuildOptions(NamedTuple):
    """How to build one Worker. `folder` is that of the wrangler file; `settings` are that file's for the environment."""

    entry: Path
    folder: Path
    date: str
    flags: frozenset[str]
    settings: Mapping[str, Any]
    rules: tuple[Rule, ...]

    @property
    def node(self) -> str | None:
        """What it has of Node: v2, v1, als or None."""
        return node_mode(self.date, self.flags)

    @property
    def bundles(self) -> bool:
        """Whether esbuild is asked at all."""
        return not self.settings.get("no_bundle")

    @property
    def finds_modules(self) -> bool:
        """Whether files beside the entry are modules too, by the rules."""
        return bool(self.settings.get("find_additional_modules", not self.bundles))

    @property
    def base_folder(self) -> Path:
        """Where names of such modules begin."""
        base = self.settings.get("base_dir")
        return self.folder / base if isinstance(base, str) else self.entry.parent


def build_options(file: Path, date: str, flags: frozenset[str], settings: Mapping[str, Any]) -> BuildOptions:
    """The options of a wrangler file's Worker, whose `settings` are the file's for one environment. Raises SourceRefused."""
    main = settings.get("main")
    folder = file.absolute().parent
    if not isinstance(main, str):
        raise SourceRefused(
            f'{file} has no main: there is no code to run. Name the Worker\'s entry, as in "main": "src/index.ts"'
        )
    entry = folder / main
    if not entry.is_file():
        build = settings.get("build")
        command = build.get("command") if isinstance(build, dict) else None
        hint = f": it is made by its build, which runs first: `{command}`" if command else ""
        raise SourceRefused(f"{file} has main {main!r}, and there is no file {entry}{hint}")
    if entry.suffix not in ENDINGS:
        raise SourceRefused(f"{entry} is no JavaScript or TypeScript: main ends in {', '.join(sorted(ENDINGS))}, or in .py")
    return BuildOptions(entry.resolve(), folder.resolve(), date, flags, settings, rules_of(settings.get("rules")))


def arguments(options: BuildOptions, esbuild_version: tuple[int, ...], real_names: frozenset[str] = frozenset()) -> list[str]:
    """Arguments of esbuild, but for the places of its output. `real_names` are Node's names that mean npm packages here."""
    settings, node = options.settings, options.node
    given = [
        str(options.entry), "--bundle", "--format=esm", f"--target={TARGET if esbuild_version >= (0, 21) else 'esnext'}",
        f"--conditions={CONDITIONS}", "--loader:.js=jsx", "--loader:.mjs=jsx", "--loader:.cjs=jsx", "--external:cloudflare:*",
        "--external:node:*", "--external:__STATIC_CONTENT_MANIFEST", "--external:workerd:*", "--sourcemap=external",
        "--sources-content=false", "--asset-names=[name]-[hash]", "--entry-names=[name]", "--log-limit=0", "--color=false",
    ]  # fmt: skip
    if esbuild_version >= (0, 25):
        given.append("--supported:using=true")
    loaders = dict(each for rule in reversed(options.rules) for each in rule.loaders())  # the first rule counts
    given += [f"--loader:{ending}={loader}" for ending, loader in loaders.items()]
    given += [f"--{name}={value}" for name, value in _plain(settings)]
    given += [f"--define:{name}={value}" for name, value in _defines(settings).items()]
    given += [f"--alias:{name}={target}" for name, target in _aliases(settings, options.folder)]
    if node == "v2":
        top = {name for name in BUILTINS if "/" not in name}
        given += [f"--alias:{name}=node:{name}" for name in sorted(top - real_names - set(settings.get("alias") or ()))]
    if node in {"v1", "v2"}:
        given.append(f"--banner:js={_REQUIRE}")
    return given


def _plain(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, name in (("jsx_factory", "jsx-factory"), ("jsx_fragment", "jsx-fragment"), ("tsconfig", "tsconfig")):
        if isinstance(settings.get(key), str):
            yield name, settings[key]
    if settings.get("keep_names", True):
        yield "keep-names", "true"


def _defines(settings: Mapping[str, Any]) -> dict[str, str]:
    """What stands for a name in the code: production's NODE_ENV, and the file's."""
    production = json.dumps("production")
    names = ("process.env.NODE_ENV", "global.process.env.NODE_ENV", "globalThis.process.env.NODE_ENV")
    own = settings.get("define")
    return dict.fromkeys(names, production) | {str(name): str(value) for name, value in (own or {}).items()}


def _aliases(settings: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, str]]:
    """The file's own: a path is the project's."""
    for name, target in (settings.get("alias") or {}).items():
        yield name, str(folder / target) if str(target).startswith(".") else str(target)
