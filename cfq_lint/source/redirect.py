"""What `.wrangler/deploy/config.json` says: which configuration is deployed instead of the written one, or what is wrong."""

from __future__ import annotations

import os

from cfq_lint.facts.errors import Unreadable
from cfq_lint.source.document import REDIRECT, Document, Redirect, read


def redirect_of(base: str, folder: str, path: str) -> Redirect | None:
    """The redirect in `base` for a file in `folder`, named `path` to the run; None where the file is what it leads to."""
    file = os.path.join(base, REDIRECT)
    beside = os.path.relpath(base, folder)
    shown = os.path.normpath(os.path.join(os.path.dirname(path), beside, REDIRECT)).replace(os.sep, "/")
    try:
        document = read(file, shown)
    except Unreadable as error:
        return Redirect(Document(shown, "{}"), None, str(error))
    root = document.tree.root
    plain = root.plain() if root is not None else None
    target = plain.get("configPath") if isinstance(plain, dict) else None
    if base != folder:
        if isinstance(target, str) and os.path.normpath(os.path.join(os.path.dirname(file), target)) == os.path.abspath(path):
            return None  # this is the file that the redirect deploys
        problem = f"it stands in another folder than {os.path.basename(path)}, and wrangler refuses the two together"
        return Redirect(document, None, problem, document.top)
    if document.encoding_problem or document.faults or root is None:
        return Redirect(document, None, "it is not JSONC", document.top)
    if not isinstance(target, str) or not target:
        return Redirect(document, None, "it has no string `configPath`", document.at(root))
    value = next(member.node for member in reversed(root.value) if member.key == "configPath")
    absolute = os.path.normpath(os.path.join(os.path.dirname(file), target))
    near = os.path.relpath(absolute, folder).replace(os.sep, "/")
    try:
        deployed = read(absolute)
    except Unreadable:
        return Redirect(document, None, f"its target {near} does not exist", document.at(value))
    body = deployed.tree.root.plain() if deployed.tree.root is not None else None
    if isinstance(body, dict) and "env" in body:
        return Redirect(
            document, None, f"its target {near} has `env`, which a redirected configuration may not have", document.at(value)
        )
    environment = body.get("targetEnvironment") if isinstance(body, dict) else None
    return Redirect(
        document,
        os.path.normpath(os.path.join(os.path.dirname(path), near)),
        fault_place=document.at(value),
        environment=environment if isinstance(environment, str) else None,
    )
