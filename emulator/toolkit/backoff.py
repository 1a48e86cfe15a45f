"""How long to wait before the next attempt. Cloudflare computes no backoff; a consumer gives the delay with each `retry()`.

Every delay is a whole number of seconds from 0 to 86,400, the longest that `retry()` takes
(https://developers.cloudflare.com/queues/configuration/batching-retries/#delay-messages). `n` counts the retries that there
were: 0 for the first; on Cloudflare that is `message.attempts - 1`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

LONGEST_SECONDS = 86_400
"""A longer delay is refused (10203)."""

Span = Callable[[int], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Backoff:
    """A curve of delays with chance in it. `span(n)` is the least and the most (seconds, before rounding and clamping).

    `steps` draws one of so many even steps of the span instead of any point of it. `seed` makes the draws the same in every
    run; None draws them. Call it with n: `backoff(0)`.
    """

    name: str
    span: Span
    seed: int | str | None = None
    steps: int | None = None
    longest_seconds: int = LONGEST_SECONDS
    _chance: list[random.Random] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.longest_seconds <= LONGEST_SECONDS:
            raise ValueError(f"longest_seconds must be from 0 to {LONGEST_SECONDS:,}, not {self.longest_seconds!r}")

    def __call__(self, n: int, chance: random.Random | None = None) -> int:
        """The delay before retry n in whole seconds. `chance` stands in for the backoff's own. Raises ValueError for n < 0.

        Where the span reaches beyond the longest delay, it ends there: else many would be drawn to the same second.
        """
        return min(self._draw(n, chance, self.longest_seconds), self.longest_seconds)

    def raw(self, n: int, chance: random.Random | None = None) -> int:
        """The delay in whole seconds as the curve has it, without the limit of a day."""
        return self._draw(n, chance, None)

    def _draw(self, n: int, chance: random.Random | None, cap: int | None) -> int:
        if n < 0:
            raise ValueError(f"n counts retries from 0: on Cloudflare it is message.attempts - 1, not {n}")
        least, most = self.span(n)
        if cap is not None and self.steps is None:
            least, most = min(least, cap), min(most, cap)
        if most <= least:
            return _whole(least, least, most)
        chance = chance or self._own()
        if self.steps is not None:
            return _whole(least + chance.randrange(self.steps) * (most - least) / (self.steps - 1), least, most)
        return _whole(least + chance.random() * (most - least), least, most)

    def bounds(self, n: int) -> tuple[int, int]:
        """The least and the most that `backoff(n)` gives."""
        least, most = self.raw_bounds(n)
        return min(least, self.longest_seconds), min(most, self.longest_seconds)

    def raw_bounds(self, n: int) -> tuple[int, int]:
        """The least and the most that `raw(n)` gives."""
        least, most = self.span(n)
        return _whole(least, least, most), _whole(most, least, most)

    def total(self, retries: int) -> tuple[int, int]:
        """The least and the most that so many retries wait together, in seconds."""
        pairs = [self.bounds(n) for n in range(retries)]
        return sum(low for low, _ in pairs), sum(high for _, high in pairs)

    def raw_total(self, retries: int) -> tuple[int, int]:
        """As `total`, without the limit of a day."""
        pairs = [self.raw_bounds(n) for n in range(retries)]
        return sum(low for low, _ in pairs), sum(high for _, high in pairs)

    def _own(self) -> random.Random:
        """Made at the first draw: a Python Worker may not draw while it is loaded."""
        if not self._chance:
            self._chance.append(random.Random(self.seed))  # noqa: S311 - jitter, not a secret
        return self._chance[0]


def _whole(seconds: float, least: float, most: float) -> int:
    """Rounded half up, and still inside the span where a whole number is."""
    inside = math.floor(seconds + 0.5)
    low, high = math.ceil(least), math.floor(most)
    return max(0, min(max(inside, low), high) if low <= high else inside)


def _power(base: float, factor: float, n: int) -> float:
    try:
        return base * float(factor) ** n
    except OverflowError:
        return float(LONGEST_SECONDS) * 100


def _positive(**given: float) -> None:
    for name, value in given.items():
        if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be a number of seconds from 0, not {value!r}")


def spread(backoff: Backoff, jitter: float = 0.25, *, seed: int | str | None = None) -> Backoff:
    """A backoff moved up or down by up to `jitter` of itself: 0.25 is a quarter either way."""
    if not 0 <= jitter <= 1:
        raise ValueError(f"jitter must be from 0 to 1, not {jitter!r}")
    span = backoff.span

    def moved(n: int) -> tuple[float, float]:
        least, most = span(n)
        return least * (1 - jitter), most * (1 + jitter)

    return Backoff(f"{backoff.name} ± {jitter:.0%}", moved, seed, longest_seconds=backoff.longest_seconds)


def exponential(
    base_seconds: float = 30,
    cap_seconds: int = LONGEST_SECONDS,
    *,
    factor: float = 2,
    jitter: float = 0,
    seed: int | str | None = None,
) -> Backoff:
    """Exponential: base * factor^n up to the cap, ± jitter (0.25: a quarter); also with jitter no more than the cap."""
    _positive(base_seconds=base_seconds, cap_seconds=cap_seconds, factor=factor)
    cap = min(cap_seconds, LONGEST_SECONDS)

    def span(n: int) -> tuple[float, float]:
        middle = min(_power(base_seconds, factor, n), cap)
        return middle, middle

    plain = Backoff(f"exponential {base_seconds} s * {factor}^n up to {cap} s", span, seed, longest_seconds=cap)
    return spread(plain, jitter, seed=seed) if jitter else plain


def course(base_seconds: float = 30, *, seed: int | str | None = None) -> Backoff:
    """The course's curve: base * 2^n, ± 25 %, rounded. 30 s gives 22.5 to 37.5."""
    return exponential(base_seconds, jitter=0.25, seed=seed)


def full_jitter(base_seconds: float = 30, cap_seconds: int = LONGEST_SECONDS, *, seed: int | str | None = None) -> Backoff:
    """Anything from 0 to base * 2^n: the widest spread (https://aws.amazon.com/builders-library/, "jitter")."""
    _positive(base_seconds=base_seconds, cap_seconds=cap_seconds)
    cap = min(cap_seconds, LONGEST_SECONDS)
    return Backoff("full jitter", lambda n: (0, min(_power(base_seconds, 2, n), cap)), seed, longest_seconds=cap)


def up_to_half_more(base_seconds: float = 1, *, seed: int | str | None = None) -> Backoff:
    """Exponential, base * 2^n, and up to 50 % more, the asynq page's jittered example."""
    _positive(base_seconds=base_seconds)

    def span(n: int) -> tuple[float, float]:
        least = _power(base_seconds, 2, n)
        return least, least * 1.5

    return Backoff("exponential + up to 50 %", span, seed)


def linear(step_seconds: float = 30, *, jitter: float = 0, seed: int | str | None = None) -> Backoff:
    """Linear: step * (n + 1) seconds."""
    _positive(step_seconds=step_seconds)
    plain = Backoff(f"linear {step_seconds} s", lambda n: (step_seconds * (n + 1), step_seconds * (n + 1)), seed)
    return spread(plain, jitter, seed=seed) if jitter else plain


def fixed(seconds: float = 30) -> Backoff:
    """The same delay each time. Everything that failed together comes back together: see the avalanche in the docs."""
    _positive(seconds=seconds)
    return Backoff(f"fixed {seconds} s", lambda _n: (seconds, seconds))


def staged(first_seconds: float = 5, quick: int = 3, then_seconds: float = 60) -> Backoff:
    """Staged: first * (n + 1) for the quick retries, then `then` * 1, 2, 3 …: 5, 10, 15 s, then 1, 2, 3 minutes."""
    _positive(first_seconds=first_seconds, then_seconds=then_seconds)

    def span(n: int) -> tuple[float, float]:
        seconds = first_seconds * (n + 1) if n < quick else then_seconds * (n - quick + 1)
        return seconds, seconds

    return Backoff("staged", span)


def asynq(*, seed: int | str | None = None) -> Backoff:
    """Asynq's own: n^4 + 15 + rand(30) * (n + 1). `raw` is what asynq waits; called, it ends at Cloudflare's day.

    https://github.com/hibiken/asynq, DefaultRetryDelayFunc.
    """
    return Backoff("asynq", lambda n: (n**4 + 15, n**4 + 15 + 29 * (n + 1)), seed, steps=30)


def exponential_capped(initial_seconds: float = 1, cap_seconds: int = 1_800) -> Backoff:
    """The curve that the asynq page tells of, and asynq does not have: 1, 2, 4 … seconds up to 30 minutes."""
    return exponential(initial_seconds, cap_seconds)
