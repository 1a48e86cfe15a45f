"""From paths to the project of a run: every configuration file, and the sources of its Workers."""

from __future__ import annotations

from cfq_lint.discovery import ENTRY_LENGTH_MAX, Surroundings
from cfq_lint.document import Unreadable
from cfq_lint.project import Project, project_of
from cfq_lint.run import find_files, open_documents
from cfq_lint.wrangler import Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.plan import Plan
    from cfq_lint.settings import Settings


def survey(
    paths: Iterable[str], plan: Plan, settings: tuple[str, Settings] | None = None, exclude: Iterable[str] = ()
) -> tuple[Project, list[str]]:
    """The project of files and folders, and a line for each file that cannot be judged."""
    files, problems = find_files(paths, exclude, settings)
    surroundings = Surroundings()
    workers: dict[str, Worker] = {}
    for file in files:
        try:
            for document in open_documents(file, plan, surroundings):
                if document.whole:
                    workers[document.path] = Worker(document, plan.environment)
                else:
                    problems.append(f"{document.path}: does not parse; `cfq-lint check` says where")
        except Unreadable as error:
            problems.append(str(error))
    return project_of(workers.values(), plan.facts, source_at), sorted(problems)


def source_at(path: str) -> str | None:
    """The text of a source; None where there is none, or where it is no source but a bundle."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(ENTRY_LENGTH_MAX + 1)
    except (OSError, ValueError):
        return None
    return text if len(text) <= ENTRY_LENGTH_MAX else None

