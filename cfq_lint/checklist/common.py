"""What the items share: evidence from a file, from facts and from sources, and how to say what is to be declared."""

from __future__ import annotations

import json

from cfq_lint.checklist.model import ACCOUNT, CODE, DECLARED, FILE, Evidence
from cfq_lint.facts.keys import is_queue_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.checklist.handling import Remark
    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.project import Subject
    from cfq_lint.source.text import Place
    from cfq_lint.worker_code.tree.spots import Spot


def at(place: Place, text: str) -> Evidence:
    """What stands in a configuration file."""
    return Evidence(FILE, f"{place.path}:{place.line}:{place.column}", text)


def in_code(spot: Spot, text: str) -> Evidence:
    """What stands in a source."""
    return Evidence(CODE, str(spot), text)


def remarked(remark: Remark) -> Evidence:
    """What was read in a source."""
    return Evidence(CODE, remark.spot, remark.text)


def declared(queue: str, key: str, value: str | float | bool) -> Evidence:
    """What the settings say of a queue."""
    shown = json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else f"{value:.12g}"
    return Evidence(DECLARED, table(queue), f"{key} = {shown}")


def known(facts: Facts, text: str) -> Evidence:
    """What is known of the account: read there, or declared."""
    return Evidence(ACCOUNT, "the account", text) if facts.is_account else Evidence(DECLARED, "settings or options", text)


def planned(facts: Facts) -> Evidence:
    """What the plan is; options and settings may name it as well as the account."""
    where = "account, settings or options" if facts.is_account else "settings or options"
    return Evidence(ACCOUNT if facts.is_account else DECLARED, where, f"the plan is {facts.plan}")


def table(queue: str) -> str:
    """The table of the settings that declares a queue."""
    return f"[tool.cfq-lint.queues.{queue}]" if is_queue_name(queue) else f'[tool.cfq-lint.queues."{queue}"]'


def declare(queue: str, *keys: str) -> str:
    """The advice to declare something of a queue."""
    return f"declare {' and '.join(f'`{key}`' for key in keys)} in {table(queue)}"


ASK_THE_ACCOUNT = (
    "set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID so that the account is read, or give a snapshot with --facts"
)


def whose(subject: Subject) -> str:
    """The place of a subject's consumer, or of a producer, for advice."""
    if subject.consumer is not None:
        return f"{subject.consumer.document.path}"
    return subject.senders[0].producer.document.path if subject.senders else "the files"
