"""workerd, esbuild and Node are found where package managers put them; what is missing is said once and clearly."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from emulator.workers.javascript import toolchain
from emulator.workers.javascript.errors import NodeMissing, PlatformUnsupported, SetupFailed, ToolMissing
from emulator.workers.javascript.setup import fill
from emulator.workers.javascript.toolchain import PINNED, cache_folder, find

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the layouts here are those of Linux")


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """An x86-64 Linux with an empty cache and no Node but what the test puts there."""
    monkeypatch.setattr(toolchain.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(toolchain, "find_spec", lambda _: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()


def package(folder, name, version="1.0.0", program=None):
    """A package in a node_modules; its folder."""
    home = folder / "node_modules" / name
    home.mkdir(parents=True)
    (home / "package.json").write_text(json.dumps({"name": name, "version": version}))
    if program:
        (home / "bin").mkdir()
        (home / "bin" / program).write_text("#!/bin/sh\n")
        (home / "bin" / program).chmod(0o755)
    return home


def programs(folder, workerd="1.20260101.0"):
    package(folder, "@cloudflare/workerd-linux-64", workerd, "workerd")
    package(folder, "@esbuild/linux-x64", "0.27.0", "esbuild")


def test_packages_side_by_side_are_found_from_a_folder_below(tmp_path):
    programs(tmp_path)
    below = tmp_path / "apps" / "shop" / "src"
    below.mkdir(parents=True)
    found = find(below)
    assert found.workerd == tmp_path / "node_modules/@cloudflare/workerd-linux-64/bin/workerd"
    assert found.esbuild == tmp_path / "node_modules/@esbuild/linux-x64/bin/esbuild"
    assert (found.workerd_version, found.newest_date) == ("1.20260101.0", "2026-01-01")
    assert found.origin == f"the project's {tmp_path}/node_modules/@cloudflare/workerd-linux-64"


def test_wrangler_s_own_come_before_those_beside_it(tmp_path):
    programs(tmp_path)
    programs(package(tmp_path, "wrangler"), "1.20260731.0")
    assert find(tmp_path).workerd_version == "1.20260731.0"


def test_links_of_pnpm_are_followed(tmp_path):
    store = tmp_path / "node_modules" / ".pnpm"
    places = {
        "wrangler": package(store / "wrangler@4", "wrangler"), "workerd": package(store / "workerd@1", "workerd"),
        "esbuild": package(store / "esbuild@0", "esbuild"),
    }
    package(store / "workerd-linux-64@1", "@cloudflare/workerd-linux-64", "1.20260202.0", "workerd")
    package(store / "linux-x64@0", "@esbuild/linux-x64", "0.27.0", "esbuild")
    for where, name, target in (
        (tmp_path / "node_modules", "wrangler", places["wrangler"]),
        (store / "wrangler@4/node_modules", "workerd", places["workerd"]),
        (store / "wrangler@4/node_modules", "esbuild", places["esbuild"]),
        (store / "workerd@1/node_modules", "@cloudflare/workerd-linux-64",
         store / "workerd-linux-64@1/node_modules/@cloudflare/workerd-linux-64"),
        (store / "esbuild@0/node_modules", "@esbuild/linux-x64", store / "linux-x64@0/node_modules/@esbuild/linux-x64"),
    ):
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).symlink_to(target)
    (tmp_path / "wrangler.jsonc").write_text("{}")
    assert find(tmp_path / "wrangler.jsonc").workerd_version == "1.20260202.0"


def test_what_another_package_brings_along_is_found(tmp_path):
    miniflare = package(package(tmp_path, "@cloudflare/vitest-pool-workers"), "miniflare")
    package(miniflare, "@cloudflare/workerd-linux-64", "1.20260303.0", "workerd")
    package(package(tmp_path, "vite"), "@esbuild/linux-x64", "0.25.0", "esbuild")
    assert find(tmp_path).workerd_version == "1.20260303.0"


def test_the_cache_stands_in_for_what_the_project_lacks(tmp_path):
    programs(cache_folder(), "1.20261117.1")
    assert find(tmp_path).origin.startswith("the cache's")
    package(tmp_path, "@cloudflare/workerd-linux-64", "1.20260404.0", "workerd")
    found = find(tmp_path)
    assert found.workerd_version == "1.20260404.0"
    assert found.esbuild.is_relative_to(cache_folder())


def test_a_machine_without_workerd_is_told_both_ways_to_get_one(tmp_path):
    node(tmp_path)
    with pytest.raises(ToolMissing) as caught:
        find(tmp_path)
    assert str(caught.value) == (
        f"no workerd was found for {tmp_path}: it is in no node_modules from there up, and not in the cache {cache_folder()}. "
        "Run `npm install --save-dev wrangler` in the project, or `cfq-emulator setup javascript` once on this machine"
    )


def test_a_machine_without_node_is_told_where_to_get_one(tmp_path):
    with pytest.raises(ToolMissing, match=r"has no Node: run `pip install 'cfq-lint\[javascript\]'`.*then `cfq-emulator setup"):
        find(tmp_path)
    with pytest.raises(NodeMissing, match="this machine has no npm"):
        fill(print)


def test_node_modules_from_another_platform_is_named(tmp_path):
    node(tmp_path)
    home = package(tmp_path, "workerd")
    with pytest.raises(ToolMissing, match=f"{home} is there, but not @cloudflare/workerd-linux-64.*another platform"):
        find(tmp_path)


@pytest.mark.parametrize(("machine_name", "libc"), [("riscv64", "x86_64-linux-gnu"), ("x86_64", "x86_64-alpine-linux-musl")])
def test_a_platform_without_a_build_is_said(tmp_path, monkeypatch, machine_name, libc):
    monkeypatch.setattr(toolchain.platform, "machine", lambda: machine_name)
    monkeypatch.setattr(toolchain.sysconfig, "get_config_var", lambda _: libc)
    with pytest.raises(PlatformUnsupported, match=f"there is no workerd for linux on {machine_name}"):
        find(tmp_path)


def node(tmp_path, name="node", script="exit 0"):
    """A program on the PATH."""
    program = tmp_path / "bin" / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


INSTALLS = """
for each in @cloudflare/workerd-linux-64:workerd @esbuild/linux-x64:esbuild; do
  name=${each%%:*}; home=$3/node_modules/$name
  /bin/mkdir -p $home/bin; echo '{"version": "1.20261117.1"}' > $home/package.json; echo > $home/bin/${each##*:}
done
"""
"""What npm does, as far as it is seen."""


def test_setup_fills_the_cache_once_and_says_so(tmp_path):
    node(tmp_path, "npm", INSTALLS)
    lines = []
    found = fill(lines.append)
    assert found.workerd.is_relative_to(cache_folder())
    node(tmp_path, "npm", "exit 1")
    assert fill(lines.append) == found
    assert "installing" in lines[0]
    assert "already in" in lines[-1]
    assert [each.name for each in cache_folder().parent.iterdir()] == [cache_folder().name]


@pytest.mark.parametrize("script", ["echo no such package; exit 1", "exit 0"], ids=["fails", "installs nothing"])
def test_a_setup_that_fails_leaves_nothing(tmp_path, script):
    node(tmp_path, "npm", script)
    with pytest.raises((SetupFailed, ToolMissing)):
        fill(print)
    assert list(cache_folder().parent.iterdir()) == []


def test_a_setup_that_is_killed_leaves_no_half_and_the_next_one_cleans_up(tmp_path):
    node(tmp_path, "npm", f"{INSTALLS}\n/bin/sleep 30")
    code = "from emulator.workers.javascript.setup import fill; fill(lambda line: print(line, flush=True))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        process.stdout.readline()
        deadline = time.monotonic() + 20
        while not list(cache_folder().parent.glob(".partial-*/node_modules/@esbuild")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    assert not cache_folder().exists()
    (left,) = cache_folder().parent.iterdir()
    os.utime(left, (0, 0))
    node(tmp_path, "npm", INSTALLS)
    fill(print)
    assert [each.name for each in cache_folder().parent.iterdir()] == [cache_folder().name]


def test_the_real_npm_fills_the_cache(tools):
    assert tools.workerd_version == PINNED["workerd"]
    for program in (tools.workerd, tools.esbuild):
        assert subprocess.run([program, "--version"], check=True, capture_output=True).stdout.strip()
    assert Path(tools.workerd).is_file()
