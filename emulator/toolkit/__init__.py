"""A toolkit for the code around a queue: which errors to retry and when, doing things once, where tasks stand.

Pure Python 3.11 without dependencies; it imports nothing of the emulator. Copy this folder beside a Worker's source to use it
there (as `emulator/toolkit/`, or under any name). Every name below is public; constants too.
"""

from .backoff import LONGEST_SECONDS as LONGEST_SECONDS
from .backoff import (
    Backoff,
    asynq,
    course,
    exponential,
    exponential_capped,
    fixed,
    full_jitter,
    linear,
    spread,
    staged,
    up_to_half_more,
)
from .consumer import Consumer, PolicyCannotWork
from .decide import DELAYS as DELAYS
from .decide import Decision, decide_retry
from .errors import (
    Busy,
    ClientError,
    DeadlineExceeded,
    ErrorClass,
    NetworkError,
    RateLimited,
    RevokeTask,
    ServerError,
    SkipRetry,
    TaskError,
    classify,
    is_error,
    is_retryable,
)
from .letters import DeadLetters
from .once import MemoryKV, OnceDownstream, OnceKV, OnceSeen, OnceSQL, OnceWarning, Outcome
from .panics import is_panic, place_of, stack_of
from .policy import PAGE as PAGE
from .policy import SOURCE as SOURCE
from .policy import Action, Dialect, Policies, RetryPolicy, Verdict, asynq_policy, course_policies
from .settling import settle
from .task import MissingKey, Task
from .tasks import RateAlarm, RateJump, RetryRate, TaskTable

__all__ = [
    "Action", "Backoff", "Busy", "ClientError", "Consumer", "DeadLetters", "DeadlineExceeded", "Decision", "Dialect",
    "ErrorClass", "MemoryKV", "MissingKey", "NetworkError", "OnceDownstream", "OnceKV", "OnceSQL", "OnceSeen", "OnceWarning",
    "Outcome", "Policies", "PolicyCannotWork", "RateAlarm", "RateJump", "RateLimited", "RetryPolicy", "RetryRate",
    "RevokeTask", "ServerError", "SkipRetry", "Task", "TaskError", "TaskTable", "Verdict", "asynq", "asynq_policy",
    "classify", "course", "course_policies", "decide_retry", "exponential", "exponential_capped", "fixed", "full_jitter",
    "is_error", "is_panic", "is_retryable", "linear", "place_of", "settle", "spread", "stack_of", "staged", "up_to_half_more",
]  # fmt: skip
