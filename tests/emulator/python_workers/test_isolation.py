"""The stand-ins exist for Workers only, and each Worker has its own."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import weakref
from importlib import import_module

import pytest

from emulator import Emulator
from tests.emulator.python_workers.conftest import WORKERS

NAMES = ("workers", "js", "pyodide", "pyodide.ffi", "asgi")
PLAIN = """
    from workers import WorkerEntrypoint
    SEEN = []
    class Default(WorkerEntrypoint):
        async def queue(self, batch):
            from js import console
            SEEN.append(self.env.LOADED())
"""


@pytest.mark.parametrize("name", NAMES)
def test_no_stand_in_can_be_imported_outside(write, name):
    write(PLAIN)
    assert name not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        import_module(name)


def test_none_is_seen_outside_while_a_worker_runs(emu, write):
    worker = write(PLAIN)
    worker.env.LOADED = lambda: sorted({"workers", "js", "pyodide", "asgi"} & set(sys.modules))
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert worker.module.SEEN == [[]]
    assert not emu.errors


def test_a_module_of_the_test_with_such_a_name_stays_what_it_is(write, tmp_path, monkeypatch):
    (tmp_path / "workers.py").write_text("MINE = 1\n")
    (tmp_path / "js.py").write_text("MINE = 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = import_module("workers")
    worker = write("from workers import WorkerEntrypoint\nfrom js import JSON\nimport js\n")
    assert import_module("workers") is before
    assert import_module("js").MINE == 2
    assert not hasattr(worker.module.js, "__file__")
    for name in ("workers", "js"):
        del sys.modules[name]


def test_two_workers_do_not_see_each_other_s_modules(emu, write):
    source = """
        import state
        from .state import COUNT
        from workers import WorkerEntrypoint, env
        assert state.COUNT is COUNT
        class Default(WorkerEntrypoint):
            async def queue(self, batch):
                import late
                COUNT.append(late.NAME)
    """
    first = write(source, {"src/state.py": "COUNT = []\n", "src/late.py": "NAME = 'first'\n"})
    other = {"queues": {"consumers": [{"queue": "others", "max_batch_timeout": 0, "max_retries": 1}]}}
    second = write(source, {"src/state.py": "COUNT = []\n", "src/late.py": "NAME = 'second'\n"}, **other)
    for queue in ("jobs", "others"):
        emu.queue(queue).send(queue)
    emu.run_until_idle()
    assert not emu.errors
    assert (first.module.COUNT, second.module.COUNT) == (["first"], ["second"])
    assert first.module.WorkerEntrypoint is not second.module.WorkerEntrypoint
    assert first.module.state is not second.module.state
    assert first.module.env is first.env
    with pytest.raises(AttributeError, match="no binding 'JOBS'"):
        _ = second.env.JOBS


def test_lazy_imports_work_in_tasks_that_interleave(emu, write):
    source = """
        import asyncio
        from workers import WorkerEntrypoint
        SEEN = []
        class Default(WorkerEntrypoint):
            async def queue(self, batch):
                for _ in range(3):
                    await asyncio.sleep(1)
                    from workers import env
                    from helper import WHO
                    SEEN.append((env.WHO, WHO))
    """
    queues = {"consumers": [{"queue": "b", "max_batch_timeout": 0, "max_retries": 1}]}
    one = write(source, {"src/helper.py": "WHO = 'a'\n"}, vars={"WHO": "a"})
    two = write(source, {"src/helper.py": "WHO = 'b'\n"}, vars={"WHO": "b"}, queues=queues)
    emu.queue("jobs").send(1)
    emu.queue("b").send(1)
    emu.run_until_idle()
    assert (one.module.SEEN, two.module.SEEN) == ([("a", "a")] * 3, [("b", "b")] * 3)


def test_a_worker_finds_that_it_runs_in_pyodide(write):
    before = sys.platform, set(sys.modules)
    module = write("""
        import sys
        from sys import modules, platform
        assert {"pyodide", "js", "workers"} <= set(modules) and sys.modules["js"] is __import__("js") and "json" in modules
        assert sys.platform == platform == "emscripten" and sys.version_info >= (3, 11) and sys.path
        assert sys.modules[__name__].__name__ == __name__
    """).module
    assert sys.platform == before[0]
    assert not {"pyodide", "js", "workers"} & set(sys.modules)
    assert module.sys is not sys


def test_what_a_worker_imports_from_elsewhere_is_everybody_s(write):
    worker = write("import json, collections.abc, email.message as m, xml.dom\nfrom os import path\n")
    import collections.abc
    import json
    import xml.dom

    assert (worker.module.json, worker.module.collections.abc, worker.module.xml.dom) == (json, collections.abc, xml.dom)


def test_a_neighbour_goes_before_the_standard_library_but_a_folder_does_not(write):
    worker = write("import queue\nimport email\n", {"src/queue.py": "MINE = 1\n", "src/email/readme.txt": ""})
    assert worker.module.queue.MINE == 1
    assert hasattr(worker.module.email, "message_from_string")


def test_packages_stars_and_importlib(write):
    source = """
        import importlib
        import pack.inner.deep
        import pack.inner.deep as deep
        from pack import *
        from pack import inner
        from importlib import import_module
        named = importlib.import_module("pack.inner.deep")
        relative = import_module(".deep", inner.__name__)
    """
    files = {"src/pack/__init__.py": "__all__ = ['A']\nA = 1\nB = 2\n", "src/pack/inner/__init__.py": "", "src/pack/inner/deep.py": "C = 3\n"}
    module = write(source, files).module
    assert module.pack.inner.deep is module.deep is module.named is module.relative
    assert (module.A, hasattr(module, "B"), module.deep.C) == (1, False, 3)


def test_vendored_modules_are_found(write):
    module = write("import helperlib\nfrom topname import X\n", {"python_modules/helperlib.py": "Y = 1\n", "topname.py": "X = 2\n"}).module
    assert (module.helperlib.Y, module.X) == (1, 2)


def test_what_is_not_there_is_a_module_not_found(write):
    with pytest.raises(ModuleNotFoundError, match="No module named 'nothing_of_the_kind'"):
        write("import nothing_of_the_kind\n")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'pack\.missing'"):
        write("import pack.missing\n", {"src/pack/__init__.py": ""})
    with pytest.raises(ImportError, match="cannot import name 'missing'"):
        write("from pack import missing\n", {"src/pack/__init__.py": ""})
    with pytest.raises(ImportError):
        write("from ..above import x\n")


def test_an_error_in_a_module_is_raised_and_leaves_nothing(write):
    before = {name for name in sys.modules if not name.startswith("_python_worker_")}
    with pytest.raises(ZeroDivisionError):
        write("import broken\n", {"src/broken.py": "1 / 0\n"})
    assert {name for name in sys.modules if not name.startswith("_python_worker_")} == before
    with pytest.raises(SyntaxError):
        write("def :\n")


def test_dataclasses_and_type_hints_find_their_module(write):
    source = """
        from __future__ import annotations
        import typing
        from dataclasses import dataclass, field, InitVar
        @dataclass
        class Job:
            id: int
            parts: list[Part] = field(default_factory=list)
            given: InitVar[int] = 0
        class Part: pass
        HINTS = typing.get_type_hints(Job)
    """
    assert set(write(source).module.HINTS) == {"id", "parts", "given"}


def test_the_source_tree_gets_no_cache(write, tmp_path):
    write("import neighbour\n", {"src/neighbour.py": ""})
    assert not list(tmp_path.rglob("__pycache__"))


def test_nothing_is_left_when_an_emulator_has_gone():
    before = set(sys.modules)
    emu = Emulator()
    emu.worker(WORKERS / "ledger_d1" / "wrangler.jsonc")
    names = [name for name in set(sys.modules) - before if name.startswith("_python_worker_")]
    assert names
    gone = weakref.ref(emu)
    emu.close()
    del emu
    gc.collect()
    assert gone() is None
    assert not set(names) & sys.modules.keys()


def test_a_worker_that_is_closed_leaves_nothing_behind(emu):
    worker = emu.worker(WORKERS / "single_file" / "worker.py")
    names = [name for name in sys.modules if name.startswith(worker.module.__package__)]
    assert len(names) == 2
    worker.close()
    del worker
    gc.collect()
    assert not set(names) & sys.modules.keys()
    for module in list(sys.modules.values()):
        getattr(module, "__warningregistry__", None)


def test_source_and_module_can_be_inspected(write):
    import inspect

    module = write("""
        def double(x):
            return 2 * x
    """).module
    assert "return 2 * x" in inspect.getsource(module.double)
    assert inspect.getmodule(module.double).__name__ == module.__name__


def test_an_emulator_without_workers_loads_none_of_it():
    code = "import sys, emulator; emulator.Emulator().close(); assert not [m for m in sys.modules if m.startswith('emulator.workers.python')]"
    subprocess.run([sys.executable, "-c", code], check=True)


LEAKS = """
    import asyncio, logging, os, signal, sys, warnings
    from os import environ, getenv
    from workers import WorkerEntrypoint
    SEEN = []
    def change(n):
        sys.path.insert(0, f"/leak{n}")
        sys.modules[f"leak{n}"] = sys
        sys.leak = n
        os.environ[f"LEAK{n}"] = environ["LEAK"] = str(n)
        os.putenv(f"PUT{n}", "1")
        os.environ.pop("TAKEN", None)
        os.chdir("/")
        warnings.simplefilter("ignore", category=[UserWarning, FutureWarning, ImportWarning, BytesWarning][n])
        logging.root.addHandler(logging.NullHandler())
        logging.root.setLevel(10 + n)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    def seen():
        return (getenv("LEAK"), "TAKEN" in os.environ, os.environ.get("OUTSIDE"), f"/leak0" in sys.path, sys.leak)
    change(0)
    class Default(WorkerEntrypoint):
        def sync(self): return seen(), change(1)
        async def job(self):
            SEEN.append(seen())
            change(2)
            await asyncio.sleep(1)
            SEEN.append(seen())
            await asyncio.gather(self.child())
            SEEN.append(seen())
        async def child(self):
            SEEN.append(seen())
            os.environ["LEAK"] = "child"
            os.environ["CHILD"] = "1"
            del os.environ["CHILD"]
            assert len(os.environ) == len(os.environ.copy()) and "CHILD" not in os.environ
"""


def surroundings():
    import logging
    import os
    import signal
    import warnings

    return (
        list(sys.path), dict(os.environ), os.getcwd(), list(warnings.filters), list(logging.root.handlers), logging.root.level,
        signal.getsignal(signal.SIGTERM), {name for name in sys.modules if "leak" in name}, hasattr(sys, "leak"),
    )  # fmt: skip


def test_nothing_of_a_worker_reaches_the_test(write, run, monkeypatch):
    monkeypatch.setenv("TAKEN", "1")
    monkeypatch.setenv("LEAK", "the test's")
    before = surroundings()
    worker = write(LEAKS, queues={})
    assert surroundings() == before
    assert worker.call("sync")[0] == ("0", False, None, True, 0)
    assert surroundings() == before
    monkeypatch.setenv("OUTSIDE", "later")
    before = surroundings()
    run(worker.call("job"))
    assert surroundings() == before
    found = [(leak, taken, outside, number) for leak, taken, outside, _, number in worker.module.SEEN]
    assert found == [("1", False, "later", 1), ("2", False, "later", 2), ("2", False, "later", 2), ("child", False, "later", 2)]


def test_two_workers_in_turns_keep_their_own(write, run):
    import os

    source = """
        import asyncio, os
        from workers import WorkerEntrypoint, Response
        os.environ["WHO"] = "{who}"
        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                seen = []
                for _ in range(3):
                    seen.append(os.environ["WHO"])
                    await asyncio.sleep(1)
                other = getattr(self.env, "OTHER", None)
                return Response(",".join(seen) + (await (await other.fetch("/")).text() if other else "") + os.environ["WHO"])
    """
    one, two = write(source.format(who="a"), queues={}), write(source.format(who="b"), queues={})
    one.env.OTHER = two

    async def main():
        return [await answer.text() for answer in await asyncio.gather(one.fetch("/"), two.fetch("/"))]

    assert run(main()) == ["a,a,ab,b,bba", "b,b,bb"]
    assert "WHO" not in os.environ


def test_what_a_worker_puts_into_its_path_is_where_its_own_modules_are(write, tmp_path):
    (tmp_path / "vendored").mkdir()
    (tmp_path / "vendored" / "far.py").write_text("WHO = 'far'\n")
    module = write(f"import sys\nsys.path.append({str(tmp_path / 'vendored')!r})\nimport far\n").module
    assert module.far.WHO == "far"
    assert "far" not in sys.modules
    with pytest.raises(ModuleNotFoundError):
        write("import far\n", queues={})


def test_a_worker_that_is_closed_has_left_nothing_and_handles_nothing(emu, write, run):
    worker = write("class Default:\n    def queue(self, batch, env=None, ctx=None): pass\n    def job(self): pass\n")
    prefix = worker.module.__package__
    worker.close()
    worker.close()
    assert not [name for name in sys.modules if name.startswith(prefix)]
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert emu.deliveries[0].error == "RuntimeError: <Worker entry.py> is closed"
    with pytest.raises(RuntimeError, match="is closed"):
        worker.call("job")
    with pytest.raises(RuntimeError):
        run(worker.fetch("/"))
