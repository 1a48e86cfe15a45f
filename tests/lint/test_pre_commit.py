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
    wanted = ["cfq_lint", "emulator", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md", ".pre-commit-hooks.yaml"]
    for name in wanted:
        path = ROOT / name
        files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file() and "__pycache__" not in each.parts]
        for file in files:
            yield file.relative_to(ROOT)


def repository(workshop, room, hooks, files):
    """A new repository that takes the hooks, pre-commit installed in it, everything committed past them; its room."""
    folder, scripts, revision = workshop
    room.mkdir()
    git("init", "-q", cwd=room)
    listed = "".join(f"      - id: {hook}\n" for hook in hooks)
    (room / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {(folder / 'hooks').as_posix()}\n    rev: {revision}\n    hooks:\n{listed}", encoding="utf-8"
    )
    write(room, files)
    git("add", "-A", cwd=room)
    git("commit", "-q", "-m", "first", cwd=room)
    done = subprocess.run([str(scripts / "pre-commit"), "install"], cwd=room, capture_output=True, text=True, check=False, env=hook_env(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return room


def write(room, files):
    for name, text in files.items():
        (room / name).parent.mkdir(parents=True, exist_ok=True)
        (room / name).write_text(text, encoding="utf-8")


def hook_env(folder):
    return clean_env(folder) | {"PRE_COMMIT_HOME": str(folder / "cache"), "PRE_COMMIT_COLOR": "never"}


def commit(workshop, room, files):
    """Change files, stage them alone and commit through the installed hook; the exit code and what was said."""
    folder, _, _ = workshop
    write(room, files)
    git("add", *files, cwd=room)
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.com", "-c", "commit.gpgsign=false"]
    command = ["git", *identity, "commit", "-m", "change"]
    done = subprocess.run(command, cwd=room, capture_output=True, text=True, check=False, env=hook_env(folder))
    return done.returncode, done.stdout + done.stderr


ORDERS = """{
  "name": "orders", "main": "src/orders.js", "compatibility_date": "2026-05-01",
  "queues": {
    "producers": [{ "binding": "MAILS", "queue": "mails" }],
    "consumers": [{ "queue": "orders", "max_batch_size": 10, "dead_letter_queue": "failed-orders" }]
  }
}
"""
MAILS = """{
  "name": "mails", "main": "src/mails.py", "compatibility_date": "2026-05-01", "compatibility_flags": ["python_workers"],
  "queues": { "consumers": [{ "queue": "mails", "dead_letter_queue": "failed-mails" }] }
}
"""
FAILED = """{
  "name": "failed", "main": "src/failed.js", "compatibility_date": "2026-05-01",
  "queues": { "consumers": [
    { "queue": "failed-orders" },
    // cfq-lint: ignore[queue-consumed-by-two-workers] moves to a Worker of its own next week
    { "queue": "failed-mails" },
    // cfq-lint: ignore[consumer-without-dlq] nothing is lost that is not counted elsewhere
    { "queue": "counts" }
  ] }
}
"""
SECOND = """{
  "name": "again", "main": "src/failed.js", "compatibility_date": "2026-05-01",
  "queues": { "consumers": [{ "queue": "failed-mails" }] }
}
"""
HANDLER = "export default { async queue(batch) { for (const message of batch.messages) message.ack(); } };\n"
PYTHON = """from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch):
        batch.ackAll()
"""
MONOREPO = {
    "again/wrangler.jsonc": SECOND,
    "failed/src/failed.js": HANDLER,
    "failed/wrangler.jsonc": FAILED,
    "mails/src/mails.py": PYTHON,
    "mails/wrangler.jsonc": MAILS,
    "orders/src/orders.js": HANDLER,
    "orders/wrangler.jsonc": ORDERS,
    "again/src/failed.js": HANDLER,
}
"""Four Workers: one finding of each is settled, or accepted, by what stands in another's file."""


def test_whatever_is_staged_the_whole_repository_is_judged(workshop, tmp_path):
    room = repository(workshop, tmp_path / "room", ["cfq-lint", "cfq-lint-sources"], MONOREPO)
    for name, text in [("orders/wrangler.jsonc", ORDERS), ("failed/wrangler.jsonc", FAILED), ("mails/wrangler.jsonc", MAILS)]:
        code, said = commit(workshop, room, {name: text.replace('"main"', '"workers_dev": false, "main"')})
        assert code == 0, said
        assert "cfq-lint" in said
        assert "Passed" in said
    code, said = commit(workshop, room, {"orders/wrangler.jsonc": ORDERS.replace("failed-orders", "fail-orders")})
    assert code == 1, said
    assert "failed/wrangler.jsonc:4:16: warning CFQ301 consumer-without-dlq" in said, "the mistake shows in a file that is not staged"


def test_a_source_alone_runs_the_second_hook_and_a_text_none(workshop, tmp_path):
    room = repository(workshop, tmp_path / "room", ["cfq-lint", "cfq-lint-sources"], MONOREPO)
    code, said = commit(workshop, room, {"mails/src/mails.py": PYTHON.replace("queue", "fetch")})
    assert code == 1, said
    assert "mails/wrangler.jsonc" in said
    assert "CFQ801 queue-handler-missing" in said
    assert "(no files to check)Skipped" in said
    code, said = commit(workshop, room, {"mails/src/mails.py": PYTHON + "# newer\n"})
    assert code == 0, said
    code, said = commit(workshop, room, {"README.md": "text"})
    assert code == 0, said
    assert said.count("(no files to check)Skipped") == 2


def test_the_fixing_hook_repairs_and_fails_once(workshop, tmp_path):
    room = repository(workshop, tmp_path / "room", ["cfq-lint-fix"], {"README.md": "text"})
    code, said = commit(workshop, room, {"wrangler.toml": FIXABLE})
    assert code == 1, said
    assert "files were modified by this hook" in said
    assert (room / "wrangler.toml").read_text(encoding="utf-8") == FIXED
    code, said = commit(workshop, room, {"wrangler.toml": FIXED})
    assert code == 0, said


@pytest.mark.parametrize("staged", ["failed/wrangler.jsonc", "mails/wrangler.jsonc"])
def test_the_fixing_hook_leaves_ignores_that_are_in_use(workshop, tmp_path, staged):
    room = repository(workshop, tmp_path / "room", ["cfq-lint-fix"], MONOREPO)
    code, said = commit(workshop, room, {staged: MONOREPO[staged].replace('"main"', '"workers_dev": false, "main"')})
    assert code == 0, said
    assert (room / "failed" / "wrangler.jsonc").read_text(encoding="utf-8").count("cfq-lint: ignore[") == 2


def test_a_commit_without_configurations_skips_the_hook(workshop, tmp_path):
    room = repository(workshop, tmp_path / "room", ["cfq-lint"], {"README.md": "text"})
    code, said = commit(workshop, room, {"package.json": "{}", "config/mywrangler.json": BAD, "wrangler.jsonc.bak": BAD})
    assert code == 0, said
    assert "(no files to check)Skipped" in said
