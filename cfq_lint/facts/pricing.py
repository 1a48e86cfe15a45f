"""What messages cost: operations of a message, and what a month of them is billed.

https://developers.cloudflare.com/queues/platform/pricing/. An operation is one started 64 KB of a message that is written, read
or deleted. Consumer Workers are billed as Workers besides, which is not counted here.
"""

from __future__ import annotations

from cfq_lint.facts import limits

_MILLION = 1_000_000
_CENTS_PER_USD = 100


def chunks(size_bytes: int) -> int:
    """How many operations one write, read or delete of a message of that size is: its metadata count, each started 64 KB."""
    return -(-(size_bytes + limits.MESSAGE_METADATA_BYTES) // limits.OPERATION_CHUNK_BYTES)


def month_usd(operations: float) -> float:
    """What the operations of one account in one month are billed on the Paid plan, in US dollars, beyond those included."""
    return usd(max(0, operations - limits.PAID_OPERATIONS_INCLUDED))


def usd(operations: float) -> float:
    """What so many operations are billed on the Paid plan, in US dollars, where those included are used up."""
    return operations * limits.PAID_CENTS_PER_MILLION_OPERATIONS / _MILLION / _CENTS_PER_USD
