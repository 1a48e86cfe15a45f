"""Can a policy work on its queue? Cloudflare counts attempts and lets messages expire, whatever the consumer's code intends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .backoff import LONGEST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .backoff import Backoff
    from .errors import ErrorClass

RETRIES_MAX = 100
RETENTION_MAX_SECONDS = 1_209_600
WALL_SECONDS = 900
"""https://developers.cloudflare.com/queues/platform/limits/"""


class Policy(Protocol):
    """What is looked at of a policy; `RetryPolicy` has it."""

    @property
    def max_retries(self) -> int:
        """How often a message is tried again."""
        ...

    @property
    def backoff(self) -> Backoff:
        """The curve of delays."""
        ...

    @property
    def by_class(self) -> Mapping[ErrorClass, Backoff]:
        """Other curves, by class of error."""
        ...

    @property
    def by_error(self) -> Mapping[type[BaseException], Backoff]:
        """Other curves, by type of error."""
        ...

    @property
    def timeout_seconds(self) -> float | None:
        """How long one attempt may take."""
        ...

    @property
    def deadline_seconds(self) -> float | None:
        """How long the whole task may take."""
        ...

    @property
    def counts_everything(self) -> bool:
        """Whether each failure counts."""
        ...


class PolicyCannotWork(ValueError):  # noqa: N818 - what is wrong with it
    """A policy that its queue cuts short. `problems` lists everything that is wrong."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Consumer:
    """What the wrangler file and the queue say: retries, retention (seconds), the dead-letter queue, and how letters get there.

    `dead_letter_binding`: the Worker has a producer binding for the dead-letter queue, so it can bury a message before the
    queue's own retries are used up.
    """

    max_retries: int = 3
    retention_seconds: int = 345_600
    dead_letter_queue: str | None = None
    dead_letter_binding: bool = False

    def problems(self, policy: Policy, name: str = "policy") -> list[str]:
        """Why the policy cannot do on this queue what it says, in words; empty when it can."""
        found: list[str] = []
        if not 0 <= self.max_retries <= RETRIES_MAX:
            found.append(f"max_retries {self.max_retries} is outside 0..{RETRIES_MAX}")
        if not 0 < self.retention_seconds <= RETENTION_MAX_SECONDS:
            found.append(f"retention {self.retention_seconds} s is outside 1..{RETENTION_MAX_SECONDS} s")
        if policy.max_retries > self.max_retries:
            found.append(
                f"{name}: {policy.max_retries} retries, but the consumer's max_retries {self.max_retries} ends it after "
                f"{self.max_retries}: set max_retries to at least {policy.max_retries}"
            )
        longest = self._longest_seconds(policy)
        if longest >= self.retention_seconds:
            found.append(
                f"{name}: its attempts may take {longest:,} s ({longest / LONGEST_SECONDS:.1f} days), but the message is "
                f"deleted after {self.retention_seconds:,} s: fewer retries, shorter delays or a longer retention"
            )
        if policy.deadline_seconds and policy.deadline_seconds > self.retention_seconds:
            found.append(
                f"{name}: a deadline of {policy.deadline_seconds:,} s is later than the retention of "
                f"{self.retention_seconds:,} s"
            )
        if policy.timeout_seconds and policy.timeout_seconds > WALL_SECONDS:
            found.append(
                f"{name}: an attempt of {policy.timeout_seconds:,} s does not fit into an invocation of {WALL_SECONDS} s"
            )
        if self.dead_letter_queue is None and not self.dead_letter_binding:
            found.append(f"{name}: no dead_letter_queue: what is given up is deleted, and nobody hears of it")
        return found

    def _longest_seconds(self, policy: Policy) -> int:
        """All delays at their longest, and each attempt as long as it may be."""
        retries = min(policy.max_retries, RETRIES_MAX)
        curves = [policy.backoff, *policy.by_class.values(), *policy.by_error.values()]
        waiting = sum(max(curve.bounds(n)[1] for curve in curves) for n in range(retries))
        running = (retries + 1) * min(policy.timeout_seconds or 0, WALL_SECONDS)
        longest = math.ceil(waiting + running)
        return longest if not policy.deadline_seconds else min(longest, math.ceil(policy.deadline_seconds))

    def notes(self, policy: Policy, name: str = "policy") -> list[str]:
        """What works and is worth knowing."""
        found: list[str] = []
        if policy.max_retries < self.max_retries:
            way = "the binding buries it then" if self.dead_letter_binding else "the rest is spent on exhausting it"
            found.append(f"{name}: gives up after {policy.max_retries} of the queue's {self.max_retries} retries: {way}")
        if not policy.counts_everything:
            found.append(f"{name}: a retry that does not count for the policy still counts for the queue ({self.max_retries})")
        beyond = [n for n in range(policy.max_retries) if policy.backoff.raw_bounds(n)[1] > LONGEST_SECONDS]
        if beyond:
            found.append(
                f"{name}: from retry {beyond[0] + 1} on its delays are longer than a day, and are cut to {LONGEST_SECONDS:,} s"
            )
        return found

    def check(self, policy: Policy, /, **by_type: Policy) -> None:
        """Raise PolicyCannotWork with everything that is wrong with the policies."""
        found = self.problems(policy, "default" if by_type else "policy")
        for name, one in by_type.items():
            found += [text for text in self.problems(one, name) if text not in found]
        if found:
            raise PolicyCannotWork(found)
