"""A configuration on an account, once for every face: its queues are made, its consumers set, its bindings named.

Consumers wait for their handlers: who has a Worker's code attaches it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.core.commands import CreateQueue, SetConsumer
from emulator.workers.bindings import Binding

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.core.model import QueueState
    from emulator.engine.account import Account
    from emulator.workers.config import Config
    from emulator.workers.stores.shared import Stores


def install(account: Account, config: Config, claimed: set[str]) -> None:
    """Make the queues that are missing, and set the consumers.

    `claimed` are the queues whose consumers were set since the account was opened; what a journal remembers is replaced.
    Raises Refused: 11004 for a second consumer.
    """
    for name in dict.fromkeys([*config.bindings.values(), *config.consumers]):
        if name not in account.state.queues:
            account.execute(CreateQueue(name))
    for name, consumer in config.consumers.items():
        queue = account.state.queues[name]
        same = lacks_handler(queue) and queue.consumer == consumer
        account.execute(SetConsumer(name, consumer, attached=False, replace=same or name not in claimed))
        claimed.add(name)


def bindings_of(
    config: Config, queue: Callable[[str], Any], stores: Callable[[], Stores], warn: Callable[[str], None]
) -> dict[str, Any]:
    """Variables, queues and stores by the names that a Worker knows them by; what is not emulated says so when it is used.

    `queue` gives a queue by its name, `stores` the account's; `warn` hears of what is not emulated, and of what is unwise.
    """
    for text in config.warnings:
        warn(text)
    bound: dict[str, Any] = dict(config.variables)
    for name, each in config.bindings.items():
        bound[name] = Binding(queue(each), config.content_type, exposes_codes=config.exposes_codes)
    bound |= {each.binding: stores().kv(each.identity) for each in config.kv}
    bound |= {each.binding: stores().d1(each.identity) for each in config.d1}
    if config.r2:
        from emulator.workers.stores.r2_bucket import R2Bucket

        bound |= {each.binding: R2Bucket(stores().r2(each.identity)) for each in config.r2}
    if config.others:
        from emulator.workers.python.environment import unsupported_binding

        bound |= {name: unsupported_binding(name, kind, "emu", warn) for name, kind in config.others.items()}
    return bound


def lacks_handler(queue: QueueState) -> bool:
    """Whether a queue's consumer is a Worker that waits for its handler."""
    return queue.consumer is not None and queue.consumer.type == "worker" and not queue.attached
