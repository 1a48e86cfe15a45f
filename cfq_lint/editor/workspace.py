"""The project as it stands in the editor: open buffers before what is on disk, judged file by file and concluded as one run.

A key pressed costs the files that it concerns: the configuration itself, or those whose Worker's source it is. All others are
remembered as they were judged last. A large project is told at once what its configurations alone show; the Workers' sources
behind those that nobody has open are followed in the time that is left.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from cfq_lint.facts.errors import LinterError, Unreadable
from cfq_lint.facts.record import record
from cfq_lint.model.sources import program_of, renewed
from cfq_lint.model.wrangler import Worker
from cfq_lint.run.engine import FileResult, Report, judge
from cfq_lint.run.lint import complete, find_files, finish
from cfq_lint.run.plan import Plan, Request, find_settings, plan_of
from cfq_lint.source.discovery import Surroundings, is_configuration
from cfq_lint.source.document import from_text, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.source.document import Document
    from cfq_lint.worker_code.modules.module import Module

SETTINGS_FILES = ("cfq-lint.toml", "pyproject.toml", ".gitignore")
"""Files that say what a run looks at, and how."""


@record
class Judged:
    """A configuration as it was judged last: its document, view and result."""

    document: Document
    worker: Worker
    result: FileResult


class Workspace:
    """The configurations in some folders, with the buffers that are open.

    Paths are absolute, or relative to the working directory; findings name files relative to it where they stand below it, as
    a run there would. `problem` says why the settings cannot be used; then the run is one without. `is_behind` says that there
    may be sources that were not followed yet.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        self.folders = tuple(folders)
        self.buffers: dict[str, str] = {}
        self.problem: LinterError | None = None
        self._plan: Plan
        self._report: Report | None = None
        self._files: list[str] = []
        self._problems: list[str] = []
        self._judged: dict[str, Judged] = {}
        self._workers: dict[str, tuple[str | None, Worker]] = {}
        self._glances: dict[str, Judged] = {}
        self._wanted: set[str] = set()
        self._asked: dict[str, set[str]] = {}
        self._kept: dict[str, dict[object, object]] = {}
        self.reload()

    # --- what happens in the editor

    def reload(self) -> None:
        """Look anew at settings and folders, and judge all again when that is asked for."""
        self.problem = None
        self.is_behind = True
        self._report = None
        try:
            request = Request(self.folders, settings=find_settings(self.folders))
            self._plan = plan_of(request)
        except LinterError as error:
            self.problem = error
            request = Request(self.folders)
            self._plan = plan_of(request)
        found, self._problems = find_files(request) if self.folders else ([], [])
        opened = [named(path) for path in self.buffers if is_configuration(path)]
        opened = find_files(Request(tuple(opened), settings=request.settings))[0] if opened else []
        new = [path for path in map(named, self.buffers) if is_configuration(path) and not os.path.exists(path)]
        self._files = sorted({*found, *opened, *new})
        self._judged.clear()
        self._glances.clear()
        self._workers.clear()
        self._asked.clear()
        self._kept.clear()
        self._wanted = {file for path in self.buffers for file in self._near(path)}

    def _near(self, path: str) -> Iterator[str]:
        """A configuration itself, or those in the folders above a source."""
        file = named(path)
        if file in self._files:
            yield file
            return
        for each in self._files:
            if path.startswith(os.path.join(os.path.dirname(os.path.abspath(each)), "")):
                yield each

    def put(self, path: str, text: str) -> None:
        """A buffer was opened, or its text is another one."""
        absolute = os.path.abspath(path)
        if self.buffers.get(absolute) == text:
            return
        is_new = absolute not in self.buffers
        self.buffers[absolute] = text
        if is_new and is_configuration(absolute) and named(absolute) not in self._files:
            self.reload()  # it may shadow another one
            return
        if is_new:
            self._wanted.update(self._near(absolute))
            self._report = None
            if _on_disk(absolute) == text:
                return
        self.touched(absolute)

    def drop(self, path: str) -> None:
        """A buffer was closed: what is on disk counts again."""
        absolute = os.path.abspath(path)
        text = self.buffers.pop(absolute, None)
        if text is None:
            return
        if not os.path.exists(absolute):
            self.reload()
        elif _on_disk(absolute) != text:
            self.touched(absolute)

    def touched(self, path: str) -> None:
        """A file that was there is another one now."""
        absolute = os.path.abspath(path)
        self._report = None
        self.is_behind = True
        self._forget(named(absolute))
        self._workers.pop(named(absolute), None)
        text = Surroundings(self.buffers).files().read(absolute)
        for file, asked in self._asked.items():
            if absolute in asked:
                self._forget(file)
                self._kept[file] = renewed(self._kept.get(file, {}), absolute, text)

    def _forget(self, file: str) -> None:
        """Judge a file again when the report is asked for; if all of it was judged before, all of it."""
        self._glances.pop(file, None)
        if self._judged.pop(file, None) is not None:
            self._wanted.add(file)

    # --- what is asked

    def report(self) -> Report:
        """The report of a run over all folders, as of now, but for sources that are still to be followed (`go_on`)."""
        if self._report is not None:
            return self._report
        results, problems = [], [*self._problems] if self.folders else []
        for file in self._files:
            try:
                results.append((self.judged(file) if file in self._wanted else self._seen(file)).result)
            except Unreadable as error:
                problems.append(str(error))
        self._report = finish(results, problems, self._plan)
        return self._report

    def go_on(self, seconds: float) -> None:
        """Follow the sources behind configurations for a time; `is_behind` says whether there are more."""
        until = time.monotonic() + seconds
        for file in self._files:
            if file not in self._judged:
                if time.monotonic() >= until:
                    return
                try:
                    before, after = self._seen(file).result, self.judged(file).result
                except Unreadable:
                    continue
                if before != after:
                    self._report = None
                if file not in self._wanted:
                    self._kept.pop(file, {}).clear()  # trees are large, and nobody has this one open
        self.is_behind = False

    def judged(self, file: str) -> Judged:
        """A configuration by its name, judged with its Worker's source. Raises Unreadable."""
        known = self._judged.get(file)
        if known is None:
            surroundings = Surroundings(self.buffers)
            surroundings.kept = self._kept.setdefault(file, {})
            known = self._judged[file] = self._judge(file, surroundings)
            self._glances.pop(file, None)
            if known.document.files is not None:
                self._asked.setdefault(file, set()).update(known.document.files.asked)
        return known

    def _seen(self, file: str) -> Judged:
        """A configuration as it is known so far, its text alone if nothing is. Raises Unreadable."""
        known = self._judged.get(file) or self._glances.get(file)
        if known is None:
            known = self._glances[file] = self._judge(file, None)
        return known

    def _judge(self, file: str, surroundings: Surroundings | None) -> Judged:
        around = surroundings or Surroundings(self.buffers)
        worker = self._worker(file, around)
        document = worker.document
        complete(document, file, self._plan, around)
        if surroundings is None:
            document.entry = document.files = None
        return Judged(document, worker, judge(document, self._plan, worker))

    def _worker(self, file: str, around: Surroundings) -> Worker:
        """The view of a configuration, read once for each text of it."""
        text = self.buffers.get(os.path.abspath(file))
        known = self._workers.get(file)
        if known is None or known[0] != text:
            document = read(file) if text is None else from_text(file.replace(os.sep, "/"), text, around.files().read)
            known = text, Worker(document, self._plan.environment)
            if document.dialect is None:  # another may rest on files beside it
                self._workers[file] = known
        return known[1]

    def all(self) -> Iterator[Judged]:
        """All configurations that can be read, as they are known so far."""
        for file in self._files:
            try:
                yield self._seen(file)
            except Unreadable:
                continue

    def configuration(self, path: str) -> Judged | None:
        """The configuration at a path; None where it is none of the project's."""
        file = named(path)
        try:
            return self.judged(file) if file in self._files else None
        except Unreadable:
            return None

    def modules(self, near: str | None = None) -> Iterator[tuple[Judged, Module]]:
        """The modules of all Workers that have queues, each with the configuration that it is the source of.

        With a path only of the Workers in whose folders that stands.
        """
        for file in self._files if near is None else [*self._near(os.path.abspath(near))]:
            each = self.configuration(file)
            if each is None or each.document.files is None or not each.worker.speaks_of_queues:
                continue
            files = each.document.files
            programs = {id(program): program for program in (program_of(one, files) for one in each.worker.environments)}
            for program in programs.values():
                program.read_all()
                yield from ((each, module) for module in program.modules.values())
            self._asked.setdefault(file, set()).update(files.asked)


def named(path: str) -> str:
    """A path as a run from the working directory names it."""
    absolute = os.path.abspath(path)
    here = os.getcwd()
    if absolute == here:
        return "."
    below = os.path.join(here, "")
    return absolute.removeprefix(below)


def _on_disk(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, ValueError):
        return None
