"""What cfq-lint refuses, as one tree. Each message says what is wrong and what to do about it; the command exits with 2.

- LinterError
  - Usage: options or files that do not go together
  - UnknownRule: a rule that does not exist was selected, ignored or asked for
  - WrongQuantity: a rate, size, share or time that is none
  - WrongSettings: a settings file, or a snapshot of an account, that cannot be used
  - WrongBaseline
  - Unreadable: a file that cannot be read, or is none of ours
  - FixFailed: a fault of the linter, and nothing was written
  - AccountError: the account could not be read; its branches are drawn in `cfq_lint.account.errors`
"""

from __future__ import annotations


class LinterError(Exception):
    """What was asked for cannot be done."""


class Usage(LinterError):
    """Options or files that cannot be used; the message says why."""


class UnknownRule(LinterError):
    """A rule was selected or ignored that does not exist; the message names it and the nearest that does."""


class WrongQuantity(LinterError, ValueError):
    """A quantity that cannot be read; the message shows how to write one."""


class WrongSettings(LinterError):
    """A settings file or a snapshot that cannot be used; the message has one line a mistake, with path, line and column."""


class WrongBaseline(LinterError):
    """A baseline that cannot be used; the message says why."""


class Unreadable(LinterError):
    """A file that cannot be read; the message says why."""


class FixFailed(LinterError):
    """A file's fixes did not settle, or broke its syntax; nothing of it may be written. A fault of the linter."""


class AccountError(LinterError):
    """The account could not be read. `retries` says how often asking again may help, `wait_seconds` how long to wait before."""

    retries = 0
    wait_seconds: float | None = None
