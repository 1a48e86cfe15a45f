"""The options of `check` and `audit`, a table each, and the reader of `check`'s command lines that needs nothing but it."""

from __future__ import annotations

from cfq_lint.facts.record import record
from cfq_lint.report import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FLAG = "flag"
VALUE = "value"
LIST = "list"


@record
class Option:
    """One option: `kind` is "flag", "value" or "list" (repeated, or with commas where `commas`); no `choices` is anything."""

    name: str
    kind: str
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    commas: bool = False

    @property
    def key(self) -> str:
        """The name as an identifier."""
        return self.name.replace("-", "_")


CHECK: tuple[Option, ...] = (
    Option("format", VALUE, "How to show findings.", "FORMAT", FORMATS, "text"),
    Option("output", VALUE, "Write the report to a file instead of the terminal.", "FILE"),
    Option("env", VALUE, "Look at one environment only, as it is deployed.", "NAME"),
    Option("plan", VALUE, "The account's Workers plan.", "PLAN", ("free", "paid")),
    Option("select", LIST, "Run these rules only: names, codes, beginnings of codes, or all.", "RULES", commas=True),
    Option("ignore", LIST, "Leave these rules out.", "RULES", commas=True),
    Option("exclude", LIST, "Pass over files that match a glob, as in .gitignore.", "GLOB"),
    Option(
        "fail-on",
        VALUE,
        "Least severity that makes the exit code 1.  [default: warning]",
        "SEVERITY",
        ("error", "warning", "info"),
    ),
    Option("fix", FLAG, "Repair what can be repaired without changing what the file means."),
    Option("unsafe-fixes", FLAG, "Repair also where the meaning changes; look at the result. Includes --fix."),
    Option("diff", FLAG, "Show what --fix (or --unsafe-fixes) would change, and write nothing."),
    Option("known-queues", VALUE, "A file with the names of all queues of the account: one a line, or a JSON list.", "FILE"),
    Option("facts", VALUE, "A snapshot of the account: plan, and queues with what is known of them (schema: facts).", "FILE"),
    Option("baseline", VALUE, "Accept the findings that this file lists.", "FILE"),
    Option("write-baseline", VALUE, "Write a file that lists all findings of this run, for --baseline.", "FILE"),
    Option("follow-redirect", FLAG, "Lint the file that .wrangler/deploy/config.json redirects to as well."),
    Option("stdin-filename", VALUE, "The name of what is read from standard input (path -).", "FILE"),
    Option("no-run", FLAG, "Run no cloudflare.config.ts; what its text does not tell is unknown."),
    Option("show-unknown", FLAG, "Say what of the Worker's source was not followed, and so not judged."),
    Option("statistics", FLAG, "Count the findings of each rule instead of showing them."),
)
_OF_CHECK_ALONE = frozenset(
    {"format", "fix", "unsafe-fixes", "diff", "known-queues", "facts", "stdin-filename", "show-unknown"}
)
AUDIT: tuple[Option, ...] = (
    Option("checklist", FLAG, "Show the acceptance list instead of findings: ten items, each pass, fail or unknown."),
    Option("estimate", FLAG, "Show time and money instead of findings: retries, reads, cost and concurrency of each queue."),
    Option("format", VALUE, "How to show it; html is a page.", "FORMAT", (*FORMATS, "html"), "text"),
    Option("no-analytics", FLAG, "Leave out what the account measured."),
    Option("analytics", FLAG, "Read what the account measured, where the token may (the default)."),
    Option("window", VALUE, "How far back to look at what was measured: 1h to 31d. [default: 7d]", "TIME"),
    Option("from-account", FLAG, "With --estimate: take rates, sizes, failures and times from what was measured."),
    Option("explain-numbers", FLAG, "Say of each number that was measured how it was reckoned, and show its query."),
    Option("rate", VALUE, "With --estimate: messages sent to each queue, as 500/s, 30/min or 1M/day.", "RATE"),
    Option("size", VALUE, "With --estimate: a message's body, as 2KB.", "SIZE"),
    Option("failure", VALUE, "With --estimate: share of the deliveries that fail, as 3%.", "SHARE"),
    Option("processing", VALUE, "With --estimate: time of one consumer invocation, whatever is in it, as 200ms.", "TIME"),
    Option("per-message", VALUE, "With --estimate: time for each message of an invocation besides, as 50ms.", "TIME"),
    *(option for option in CHECK if option.name not in _OF_CHECK_ALONE),
    Option(
        "token",
        VALUE,
        "An API token with the permission Queues Read, and Account Analytics Read; better in CLOUDFLARE_API_TOKEN.",
        "TOKEN",
    ),
    Option(
        "account-id", VALUE, "The account; else account_id in the files, else CLOUDFLARE_ACCOUNT_ID, as wrangler has it.", "ID"
    ),
    Option("base-url", VALUE, "Where the API is; else CLOUDFLARE_API_BASE_URL, else Cloudflare's.", "URL"),
    Option("timeout", VALUE, "Longest wait for one answer, in seconds.", "SECONDS", default="10"),
    Option(
        "facts", LIST, "Take this snapshot for the account, of which there is one; nothing is sent (schema: facts).", "FILE"
    ),
    Option("write-facts", VALUE, "Save what was read from the account, for --facts; it holds no secret.", "FILE"),
)
_BY_NAME = {option.name: option for option in CHECK}


def parse(arguments: list[str]) -> dict[str, Any] | None:
    """The values of a command line after `check`, with `paths`; None where it takes more than this table to answer it."""
    values: dict[str, Any] = {option.key: option.default for option in CHECK}
    values |= {option.key: False for option in CHECK if option.kind == FLAG}
    paths: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--":
            paths += waiting
        elif argument == "-" or not argument.startswith("-"):
            paths.append(argument)
        else:
            name, equals, value = argument[2:].partition("=")
            option = _BY_NAME.get(name) if argument.startswith("--") else None
            if option is None or (option.kind == FLAG and equals):
                return None
            if option.kind == FLAG:
                values[option.key] = True
                continue
            given = value if equals else next(waiting, None)
            if given is None or (option.choices and given not in option.choices):
                return None
            values[option.key] = [*(values[option.key] or []), given] if option.kind == LIST else given
    return complete(values, paths)


def complete(values: dict[str, Any], paths: list[str], options: tuple[Option, ...] = CHECK) -> dict[str, Any]:
    """What both ways of reading a command line do at the end: split lists at commas, look at the current folder by default."""
    for option in options:
        if option.kind == LIST:
            given = values[option.key]
            if given and option.commas:
                given = [part.strip() for each in given for part in each.split(",") if part.strip()]
            values[option.key] = given
    values["paths"] = paths or ["."]
    return values
