"""Run once by the build, in Pyodide: imports what the page may need, for a page has the memory and no file of the linter's."""

import contextlib
import gc
import importlib
import pkgutil
import sys

sys.path.insert(0, "/app")

from playground.lint import lint

import cfq_lint

for module in pkgutil.walk_packages(cfq_lint.__path__, "cfq_lint."):
    # What needs a part or a library that the page is built without is not asked for there.
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module(module.name)

# What is made at the first lint is made now.
lint('{ "queues": { "consumers": [{ "queue": \'jobs\', "max_retries": 101 }] } }', "wrangler.jsonc", "")
lint('[[queues.consumers]]\nqueue = "jobs"\nmax_retries = 101', "wrangler.toml", "")
gc.collect()
