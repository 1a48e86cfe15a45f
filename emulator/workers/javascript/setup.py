"""Fills the cache with workerd, esbuild and miniflare, by npm; whole or not at all."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from emulator.engine.clock import SECOND_US, WallClock, real_seconds
from emulator.workers.javascript.errors import NodeMissing, SetupFailed
from emulator.workers.javascript.toolchain import PINNED, cache_folder, find, find_node, node_wheel

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.workers.javascript.toolchain import Toolchain

_PARTIAL = ".partial-"
_STALE_SECONDS = 3_600.0


def fill(say: Callable[[str], None]) -> Toolchain:
    """Install what is pinned into the cache, unless it is there, and say what is done; the cache's programs.

    npm works in a folder of its own, which is renamed when everything is in it: a setup that is killed leaves no half, and of
    two at once the later one finds the work done. Raises NodeMissing, PlatformUnsupported, SetupFailed.
    """
    folder = cache_folder()
    if folder.is_dir():
        say(f"{', '.join(f'{name} {version}' for name, version in PINNED.items())}: already in {folder}")
        return find(folder)
    npm = _npm()
    folder.parent.mkdir(parents=True, exist_ok=True)
    _sweep(folder.parent)
    work = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=folder.parent))
    try:
        (work / "package.json").write_text("{}\n", encoding="utf-8")
        packages = [f"{name}@{version}" for name, version in PINNED.items()]
        say(f"installing {', '.join(packages)} with npm, about 210 MB in {folder}")
        began = real_seconds()
        _install(npm, packages, work)
        find(work)
        with suppress(OSError):  # another setup was first
            work.rename(folder)
        say(f"done in {real_seconds() - began:.0f} s")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return find(folder)


def _install(npm: list[str], packages: list[str], folder: Path) -> None:
    """Let npm install packages. Their install scripts do not run: the programs are in the packages of the platform."""
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    done = subprocess.run(  # noqa: S603 - npm, with packages that are pinned here
        [*npm, "install", "--prefix", str(folder), *quiet, *packages],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise SetupFailed(f"npm could not install {', '.join(packages)}:\n{done.stdout.strip()}")


def _npm() -> list[str]:
    """The command that runs npm: the machine's, else that beside the Node of a wheel. Raises NodeMissing."""
    known = shutil.which("npm")
    if known is not None:
        return [known]
    wheel, node = node_wheel(), find_node()
    if wheel is None or node is None:
        raise NodeMissing(
            "this machine has no npm, which installs workerd, esbuild and miniflare: run `pip install 'cfq-lint[javascript]'`, "
            "which brings Node and npm, or install Node"
        )
    place = "node_modules" if sys.platform == "win32" else "lib/node_modules"
    return [str(node), str(wheel / place / "npm" / "bin" / "npm-cli.js")]


def _sweep(folder: Path) -> None:
    """Delete what setups that were killed have left."""
    for left in folder.glob(f"{_PARTIAL}*"):
        with suppress(OSError):
            if WallClock().now_us() / SECOND_US - left.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
