"""Builds the playground into `site/playground`: static files, Python and all, that any web server can serve.

Needs npm, and pip for the wheel of msgspec that is made for browsers.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import json5  # explains what is no JSON, in the page, too

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROOM = ROOT / ".editor" / "playground"
SITE = ROOT / "site" / "playground"
PYODIDE = ("pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PAGE = ("index.html", "style.css", "start.js")
BUNDLES = ("app.js", "worker.js")
WHEEL = ("--platform", "pyemscripten_2026_0_wasm32", "--python-version", "3.14", "--implementation", "cp", "--abi", "cp314")
LINTER_LEAVES_OUT = ("__main__.py", "cli", "account", "editor", "worker_code", "checklist", "estimate", "drawing", "report")
EMULATOR_LEAVES_OUT = ("cli", "server", "explore", "simulate", "clients", "toolkit", "pool")


def archive(target: Path, packages: list[Path], left_out: tuple[str, ...], glue: str) -> None:
    """Packages' sources, and what the page asks of them."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for package in packages:
            for file in sorted(package.rglob("*.py")):
                if file.relative_to(package).parts[0] not in left_out:
                    made.write(file, file.relative_to(package.parent))
        made.write(HERE / glue, f"playground/{glue}")


def build() -> None:
    """Everything, anew."""
    ROOM.mkdir(parents=True, exist_ok=True)
    for file in (*HERE.glob("*.js"), HERE / "package.json"):
        shutil.copy(file, ROOM)
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=ROOM, check=True)
    shutil.rmtree(SITE, ignore_errors=True)
    (SITE / "pyodide").mkdir(parents=True)
    for name in PYODIDE:
        shutil.copy(ROOM / "node_modules" / "pyodide" / name, SITE / "pyodide")
    for name in PAGE:
        shutil.copy(HERE / name, SITE)
    archive(ROOM / "cfq_lint.zip", [ROOT / "cfq_lint", Path(json5.__file__).parent], LINTER_LEAVES_OUT, "lint.py")
    keep = ["node", "snapshot.js", "cfq_lint.zip", HERE / "snapshot.py", SITE / "python.snapshot"]
    length = subprocess.run(keep, cwd=ROOM, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    bundle = [ROOM / "node_modules" / ".bin" / "esbuild", "--bundle", "--minify", "--format=esm", "--target=es2022"]
    bundle += ["--log-level=warning", "--external:./pyodide/*", "--external:node:*", "--external:ws"]
    subprocess.run([*bundle, f"--define:SNAPSHOT_LENGTH={length}", *BUNDLES, f"--outdir={SITE}"], cwd=ROOM, check=True)
    archive(SITE / "emulator.zip", [ROOT / "emulator"], EMULATOR_LEAVES_OUT, "emulate.py")
    if not [*ROOM.glob("msgspec*.whl")]:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
        ]
        subprocess.run([*pip, *WHEEL, "msgspec", "--dest", ROOM], check=True)
    shutil.copy(next(ROOM.glob("msgspec*.whl")), SITE / "msgspec.whl")
    files = sorted(file for file in SITE.rglob("*") if file.is_file())
    version = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
    names = ["./", *(file.relative_to(SITE).as_posix() for file in files)]
    offline = (HERE / "offline.js").read_text(encoding="utf-8")
    offline = offline.replace("__VERSION__", version).replace("__FILES__", json.dumps(names))
    (SITE / "offline.js").write_text(offline, encoding="utf-8")
    size = sum(file.stat().st_size for file in files)
    print(f"{SITE.relative_to(ROOT)}: {len(files)} files, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    build()
