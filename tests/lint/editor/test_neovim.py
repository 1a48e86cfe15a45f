"""Real Neovim, with the snippet of the docs: diagnostics, a fix, a rename over files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lint.editor.project import API, HANDLER, JOBS, write

ROOT = Path(__file__).resolve().parents[3]
NVIM = Path(sys.executable).with_name("nvim")
SNIPPET = re.search(r"## Neovim.*?```lua\n(.*?)```", (ROOT / "docs" / "editor.md").read_text(encoding="utf-8"), re.DOTALL)[1]
SESSION = """
vim.cmd("edit jobs/wrangler.jsonc")
vim.bo.filetype = "jsonc"
local out = {}
local function waited(what) assert(vim.wait(20000, what, 20), "nothing came") end
waited(function() return #vim.diagnostic.get(0) > 0 end)
out.codes = vim.tbl_map(function(each) return { each.code, each.lnum, each.col } end, vim.diagnostic.get(0))
local client = vim.lsp.get_clients({ bufnr = 0 })[1]
out.encoding = client.offset_encoding
local line = vim.fn.search("max_retries") - 1
vim.api.nvim_win_set_cursor(0, { line + 1, vim.fn.col(".") + 14 })
vim.lsp.buf.code_action({ apply = true, filter = function(each) return each.title:match("^Write 100") end })
waited(function() return vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1]:find("100,") end)
out.fixed = vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1]
waited(function() return #vim.tbl_filter(function(each) return each.code == "CFQ203" end, vim.diagnostic.get(0)) == 0 end)
vim.fn.search('"orders",', "w")
vim.api.nvim_win_set_cursor(0, { vim.fn.line("."), vim.fn.col(".") + 2 })
vim.lsp.buf.rename("purchases")
waited(function() return vim.fn.bufnr("src/index.ts") >= 0 and vim.fn.search('"purchases",', "nw") > 0 end)
vim.cmd("silent wall")
io.stdout:write(vim.json.encode(out))
vim.cmd("qa!")
"""


@pytest.mark.skipif(not NVIM.exists(), reason="Neovim comes with the extra `dev`")
def test_the_documented_snippet_in_neovim(tmp_path):
    write(tmp_path)
    (tmp_path / ".git").mkdir()
    wrong = JOBS.replace('"max_retries": 3', '/* 😀 */ "max_retries": 300')
    (tmp_path / "jobs/wrangler.jsonc").write_text(wrong, encoding="utf-8")
    script = tmp_path / "session.lua"
    script.write_text(SNIPPET + SESSION, encoding="utf-8")
    env = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    done = subprocess.run(
        [NVIM, "--clean", "--headless", "-n", "-S", script],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    line = wrong.splitlines()[5]
    assert ["CFQ203", 5, len(line[: line.index("300")].encode())] in said["codes"]  # Neovim counts bytes
    assert '"max_retries": 100,' in said["fixed"]
    after = {
        name: (tmp_path / name).read_text(encoding="utf-8")
        for name in ("api/wrangler.jsonc", "jobs/wrangler.jsonc", "jobs/src/index.ts")
    }
    assert after["api/wrangler.jsonc"] == API.replace('"queue": "orders"', '"queue": "purchases"')
    assert after["jobs/wrangler.jsonc"] == wrong.replace("300", "100").replace('"queue": "orders"', '"queue": "purchases"')
    assert after["jobs/src/index.ts"] == HANDLER.replace('"orders"', '"purchases"')
