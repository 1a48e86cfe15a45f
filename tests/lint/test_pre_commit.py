"""The hooks, run by the real pre-commit on a repository that takes them from this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv

import pytest

from .support import ROOT

BAD = '{ "queues": { "consumers": [{ "queue": "q", "max_retries": 1000, "dead_letter_queue": "q-dlq" }] } }\n'
GOOD = '{ "queues": { "consumers": [{ "queue": "q", "dead_letter_queue": "q-dlq" }, { "queue": "q-dlq" }] } }\n'
FIXABLE = '[[queues.consumers]]\nqueue = "t"\ndead_letter_queue = "t-dlq" # kept\nvisibility_timeout_ms = 30000\n\n[[queues.consumers]]\nqueue = "t-dlq"\n'
FIXED = FIXABLE.replace("visibility_timeout_ms = 30000\n", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("git"), reason="pre-commit needs git"),
]


def git(*arguments, cwd):
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=cwd, capture_output=True, text=True, check=False, env=clean_env(cwd))
    assert done.returncode == 0, done.stderr
    return done.stdout


def clean_env(home):
    kept = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "HTTP", "http", "NO_PROXY", "no_proxy"))}
    return kept | {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    """pre-commit in a virtual environment of its own, and this checkout as a repository with one commit."""
    folder = tmp_path_factory.mktemp("pre-commit")
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    install = [str(scripts / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pre-commit"]
    done = subprocess.run(install, capture_output=True, text=True, check=False, env=clean_env(folder))
    assert done.returncode == 0, done.stderr
    hooks = folder / "hooks"
    for name in checkout():
        target = hooks / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    git("init", "-q", cwd=hooks)
    git("add", "-A", "-f", cwd=hooks)
    git("commit", "-q", "-m", "hooks", cwd=hooks)
    return folder, scripts, git("rev-parse", "HEAD", cwd=hooks).strip()


def checkout():
    """The files of this checkout that a user of the hooks would get, without the data of its tests."""
    wanted = ["cfq_lint", "emulator", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".pre-commit-hooks.yaml"]
    for name in wanted:
        path = ROOT / name
        files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file() and "__pycache__" not in each.parts]
        for file in files:
            yield file.relative_to(ROOT)


def run_hook(workshop, room, hook, files):
    """Run one hook on all files of a new repository; its exit code, what it said, and the repository."""
    folder, scripts, revision = workshop
    room.mkdir()
    git("init", "-q", cwd=room)
    (room / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {(folder / 'hooks').as_posix()}\n    rev: {revision}\n    hooks:\n      - id: {hook}\n", encoding="utf-8"
    )
    for name, text in files.items():
        (room / name).parent.mkdir(parents=True, exist_ok=True)
        (room / name).write_text(text, encoding="utf-8")
    git("add", "-A", cwd=room)
    env = clean_env(folder) | {"PRE_COMMIT_HOME": str(folder / "cache"), "PRE_COMMIT_COLOR": "never"}
    done = subprocess.run(
        [str(scripts / "pre-commit"), "run", "--all-files", "--verbose"], cwd=room, capture_output=True, text=True, check=False, env=env
    )
    return done.returncode, done.stdout + done.stderr


def test_the_hook_passes_a_good_file_and_fails_a_bad_one(workshop, tmp_path):
    code, said = run_hook(workshop, tmp_path / "good", "cfq-lint", {"wrangler.jsonc": GOOD, "package.json": BAD, "wrangler.jsonc.bak": BAD})
    assert code == 0, said
    assert "Passed" in said
    code, said = run_hook(workshop, tmp_path / "bad", "cfq-lint", {"apps/x/wrangler.jsonc": BAD, "wrangler.jsonc": GOOD})
    assert code == 1, said
    assert "apps/x/wrangler.jsonc:1:60: error CFQ203 max-retries-range" in said
    assert "exit code: 1" in said


def test_the_fixing_hook_repairs_and_fails_once(workshop, tmp_path):
    room = tmp_path / "room"
    code, said = run_hook(workshop, room, "cfq-lint-fix", {"wrangler.toml": FIXABLE})
    assert code == 1, said
    assert "files were modified by this hook" in said
    assert (room / "wrangler.toml").read_text(encoding="utf-8") == FIXED
    shutil.rmtree(room / ".git")
    code, said = run_hook(workshop, tmp_path / "again", "cfq-lint-fix", {"wrangler.toml": FIXED})
    assert code == 0, said


def test_a_commit_without_configurations_skips_the_hook(workshop, tmp_path):
    code, said = run_hook(workshop, tmp_path / "none", "cfq-lint", {"package.json": "{}", "config/mywrangler.json": BAD})
    assert code == 0, said
    assert "(no files to check)Skipped" in said
