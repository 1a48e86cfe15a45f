"""From a Worker's entry to the modules that workerd runs, kept until what they are made of changes.

esbuild's program does it in some 30 ms, without Node; what wrangler does in plugins is told to it by arguments.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from emulator.engine.clock import SECOND_US, WallClock
from emulator.workers.javascript.bundling.evaluating import KEPT
from emulator.workers.javascript.bundling.fingerprint import fingerprint, is_fresh
from emulator.workers.javascript.bundling.messages import message_of
from emulator.workers.javascript.bundling.module_rules import kind_of
from emulator.workers.javascript.bundling.node_builtins import BUILTINS, missing_flags
from emulator.workers.javascript.bundling.options import arguments
from emulator.workers.javascript.errors import SourceRefused
from emulator.workers.javascript.toolchain import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emulator.workers.javascript.bundling.options import BuildOptions
    from emulator.workers.javascript.toolchain import Toolchain

_FORMAT = "1"
"""Changes when what is kept looks different."""
_LATEST, _PARTIAL = "latest.json", ".partial-"
_DAY = 86_400.0
_OLD_SECONDS, _FORGOTTEN_SECONDS = _DAY, 30 * _DAY
"""After so long a bundle that is not the latest is nobody's any more; and a Worker that was not built again has gone."""


class Module(NamedTuple):
    """A module: its name for workerd, the member of `Worker.Module` that it is (esModule, text, data, wasm, …), its file."""

    name: str
    kind: str
    file: Path


class Bundle(NamedTuple):
    """The modules, the main one first. `exports` are the main module's names; empty where nothing tells (no_bundle).

    `source_map` is the main module's, None without one. `flags` are compatibility flags that it needs beside its own, for
    Node's modules that are later than its date. `warm` tells that esbuild was not asked.
    """

    modules: tuple[Module, ...]
    exports: tuple[str, ...]
    source_map: Path | None
    flags: frozenset[str]
    warm: bool


class _Kept(msgspec.Struct):
    """The latest bundle of a key: `latest.json`. `folder` is named by what it was made of: none that is in use is touched."""

    folder: str
    main: str
    exports: list[str]
    node_modules: list[str]
    inputs: dict[str, str]


def bundle(options: BuildOptions, tools: Toolchain) -> Bundle:
    """Bundle a Worker, or take what was kept. Raises SourceRefused: one message with the place and the line."""
    if not options.bundles:
        return Bundle((_as_it_is(options), *_beside(options)), (), None, frozenset(), warm=True)
    shelf = cache_folder().parent.resolve() / "bundles" / _key(options, tools)
    kept = _kept(shelf)
    warm = kept is not None and is_fresh(kept.inputs)
    if kept is None or not warm:
        kept = _build(options, tools, shelf)
    folder = shelf / kept.folder
    if not kept.exports:
        raise SourceRefused(
            f"{options.entry} exports nothing: it is in the service-worker format (addEventListener), which is not run here. "
            "Write a module: `export default { async queue(batch, env, ctx) { … } }`"
        )
    others = sorted(file for file in folder.iterdir() if not file.name.endswith((".map", KEPT)))
    main = Module(kept.main, "esModule", folder / kept.main)
    modules = [
        Module(f"./{each.name}", kind_of(options.rules, each.name) or "data", each) for each in others if each != main.file
    ]
    flags = missing_flags(kept.node_modules, options.date, options.flags, tools.newest_date)
    return Bundle((main, *modules, *_beside(options)), tuple(kept.exports), folder / f"{kept.main}.map", flags, warm)


def _build(options: BuildOptions, tools: Toolchain, shelf: Path) -> _Kept:
    """Let esbuild work in a folder of its own, which is put on the shelf when it is whole."""
    shelf.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=shelf))
    try:
        made = _esbuild(options, tools, work, frozenset())
        names = {each.split("/")[0] for each in made.node_modules if each not in BUILTINS}
        if names:  # `punycode/punycode.js` and the like are of packages, though Node has modules of that name
            made = _esbuild(options, tools, work, frozenset(names))
        kept = work / _LATEST
        kept.write_bytes(msgspec.json.encode(made))
        kept.replace(shelf / f"{work.name}.json")
        with suppress(OSError):  # somebody else has just made the same
            work.rename(shelf / made.folder)
        (shelf / f"{work.name}.json").replace(shelf / _LATEST)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    _sweep(each for each in shelf.iterdir() if each.is_dir() and each.name != made.folder)
    _sweep((each for each in shelf.parent.iterdir() if each != shelf), _FORGOTTEN_SECONDS)
    return made


def _sweep(folders: Iterable[Path], seconds: float = _OLD_SECONDS) -> None:
    """Delete what is old."""
    for each in folders:
        with suppress(OSError):
            if WallClock().now_us() / SECOND_US - each.stat().st_mtime > seconds:
                shutil.rmtree(each, ignore_errors=True)


def _esbuild(options: BuildOptions, tools: Toolchain, out: Path, real_names: frozenset[str]) -> _Kept:
    meta = out / "meta.json"
    command = [
        str(tools.esbuild),
        *arguments(options, _version(tools.esbuild), real_names),
        f"--outdir={out}",
        f"--metafile={meta}",
    ]
    done = subprocess.run(  # noqa: S603 - the project's esbuild, or the cache's
        command, cwd=options.folder, capture_output=True, text=True, encoding="utf-8", check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise SourceRefused(message_of(done.stderr, options))
    told: dict[str, Any] = msgspec.json.decode(meta.read_bytes())
    meta.unlink()
    name, output = next((each, row) for each, row in told["outputs"].items() if row.get("entryPoint"))
    node = {each["path"].removeprefix("node:") for each in output["imports"] if each["path"].startswith("node:")}
    inputs = [options.folder / each for each in told["inputs"] if not each.startswith("(")]
    made_of = fingerprint(inputs)
    folder = blake2b(msgspec.json.encode(made_of), digest_size=10).hexdigest()
    return _Kept(folder, os.path.basename(name), output["exports"], sorted(node), made_of)


def _kept(shelf: Path) -> _Kept | None:
    try:
        kept = msgspec.json.decode((shelf / _LATEST).read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError):
        return None
    return kept if (shelf / kept.folder / kept.main).is_file() else None


def _key(options: BuildOptions, tools: Toolchain) -> str:
    """Two builds of one key have the same arguments and esbuild; what they read is compared file by file."""
    of = [_FORMAT, str(options.folder), str(_version(tools.esbuild)), *arguments(options, _version(tools.esbuild))]
    return f"{options.folder.name}-{blake2b(chr(0).join(of).encode(), digest_size=10).hexdigest()}"


def _version(esbuild: Path) -> tuple[int, ...]:
    home = esbuild.parent if (esbuild.parent / "package.json").is_file() else esbuild.parents[1]
    told: dict[str, Any] = msgspec.json.decode((home / "package.json").read_bytes())
    return tuple(int(each) for each in told["version"].split("-")[0].split("."))


def _as_it_is(options: BuildOptions) -> Module:
    """The entry of a Worker that is bundled already."""
    return Module(options.entry.relative_to(options.base_folder.resolve()).as_posix(), "esModule", options.entry)


def _beside(options: BuildOptions) -> Iterable[Module]:
    """The files that are modules too (`find_additional_modules`), named from the base folder."""
    if not options.finds_modules:
        return
    base = options.base_folder.resolve()
    for file in sorted(base.rglob("*")):
        name = file.relative_to(base).as_posix()
        kind = kind_of(options.rules, name)
        if kind is not None and file.is_file() and file != options.entry and "node_modules" not in name.split("/"):
            yield Module(name, kind, file)
