"""Effect and neverthrow in plain JavaScript: values as promises, failures as throws, results as what ok() and err() give.

https://effect.website/docs/getting-started/running-effects/ and https://github.com/supermacro/neverthrow; what stands here is
the part of them that says what runs, and what becomes of a failure. That an effect runs only once somebody runs it is left out.
"""

from __future__ import annotations

from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.statements import RAISE, RETURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Imports = Mapping[str, tuple[str, str]]

_RUNS = frozenset({"runPromise", "runFork", "runSync", "runCallback", "scoped", "asVoid", "orDie", "uninterruptible"})
_MAKES = frozenset({"tryPromise", "promise", "sync", "try", "suspend"})
_THEN = frozenset({"tap", "flatMap", "andThen", "map", "zipRight"})
_CATCHES = frozenset({"catchAll", "catchAllCause", "orElse", "catchAllDefect"})
_CATCHES_SOME = frozenset({"catchTag", "catchTags", "catchSome", "catchIf"})
_SEES = frozenset({"tapError", "tapErrorCause", "tapBoth"})
_SWALLOWS = frozenset({"ignore", "ignoreLogged"})
_RESULTS = frozenset({"either", "exit", "option", "result"})
_ASKS = {"isLeft": "isErr", "isRight": "isOk", "isFailure": "isErr", "isSuccess": "isOk", "isNone": "isErr", "isSome": "isOk"}
_FROM = frozenset({"fromPromise", "fromThrowable", "fromAsyncThrowable", "fromSafePromise"})


def is_used(imports: Imports) -> bool:
    """Whether a module imports one of the libraries."""
    return any(source.startswith(("effect", "@effect/", "neverthrow")) for source, _ in imports.values())


def in_plain(call: n.Invoke, imports: Imports) -> n.Node:
    """What a call of one of the libraries stands for; any other call is itself."""
    callee, given = call.callee, call.given
    if isinstance(callee, n.Member):
        if _is_from("effect", callee.of, imports):
            return _of_effect(call, callee.name, given)
        if callee.name == "pipe" and any(_is_step(each, imports) for each in given):
            return _piped(callee.of, given, imports)
        if callee.name in _FROM and _is_from("neverthrow", callee.of, imports) and given:
            return _as_result(call, given[0])
        return _of_result(call, callee.of, callee.name, given)
    if isinstance(callee, n.Name) and callee.id == "pipe" and any(_is_step(each, imports) for each in given[1:]):
        return _piped(given[0], given[1:], imports)
    is_from = isinstance(callee, n.Name) and callee.id in _FROM and _is_from("neverthrow", callee, imports)
    return _as_result(call, given[0]) if is_from and given else call


def _is_from(library: str, node: n.Node, imports: Imports) -> bool:
    source = imports.get(node.id, ("", ""))[0] if isinstance(node, n.Name) else ""
    return source == library or source.startswith(f"{library}/")


def _is_step(node: n.Node, imports: Imports) -> bool:
    named = node.callee if isinstance(node, n.Invoke) else node
    return isinstance(named, n.Member) and _is_from("effect", named.of, imports)


def _of_effect(call: n.Invoke, name: str, given: tuple[n.Node, ...]) -> n.Node:
    """A function of Effect's that is given all that it needs; what a pipe gives it is not there yet."""
    functions = [each for each in given if isinstance(each, n.Lambda)]
    if name in _RUNS and given:
        return given[0]
    if name == "runPromiseExit" and given:
        return _as_result(call, given[0])
    if name in {"gen", "fn"} and functions:
        body = functions[-1]
        return _called(n.Lambda(body.at, body.name, body.parameters, body.body, True, body.gives))
    if name in _MAKES and given:
        tries = [each.value for each in given[0].parts if isinstance(each, n.Pair) and each.name == "try"]
        return _called(*tries) if tries else _called(given[0])
    if name in {"fail", "die", "failCause"}:
        return _called(_function(call, (), s.Leave(call.at, RAISE, given)))
    if name == "succeed" and given:
        return given[0]
    if name == "forEach" and len(given) > 1:
        return _promise(call, "all", _member_call(given[0], "map", given[1]))
    if name == "all" and given:
        return _promise(call, "all", given[0])
    if name in _ASKS and given:
        return _member_call(given[0], _ASKS[name])
    is_whole = len(given) > 1 and name in _THEN | _CATCHES | _SEES and not isinstance(given[0], n.Lambda)
    return _step(given[0], name, given[1:]) if is_whole else call


def _piped(start: n.Node, steps: tuple[n.Node, ...], imports: Imports) -> n.Node:
    for each in steps:
        named = each.callee if isinstance(each, n.Invoke) else each
        if isinstance(named, n.Member) and _is_from("effect", named.of, imports):
            start = _step(start, named.name, each.given if isinstance(each, n.Invoke) else ())
    return start


def _step(before: n.Node, name: str, given: tuple[n.Node, ...]) -> n.Node:
    """One step of a pipe, after what comes before it."""
    error = _name(before, "error")
    if name in _THEN and given:
        is_function = isinstance(given[0], n.Lambda | n.Name | n.Member)
        return _member_call(before, "then", given[0] if is_function else _function(before, (), given[0], gives=True))
    if name in _CATCHES and given:
        return _member_call(before, "catch", given[0])
    if name in _CATCHES_SOME and given:
        again = s.Leave(before.at, RAISE, (error,))
        several = [each.value for each in given[-1].parts if isinstance(each, n.Pair)] or [given[-1]]
        body: n.Node = again
        for each in several:
            body = n.Either(before.at, n.Other(before.at, (error,)), _called(each, error), body)
        return _member_call(before, "catch", _function(before, (error,), body))
    if name in _SEES and given:
        body = n.Other(before.at, (n.Wait(before.at, _called(given[0], error)), s.Leave(before.at, RAISE, (error,))))
        return _member_call(before, "catch", _function(before, (error,), body))
    if name in _SWALLOWS:
        return _member_call(before, "catch", _function(before, (), n.Other(before.at, ())))
    if name in _RESULTS or name == "runPromiseExit":
        return _as_result(before, before)
    if name in {"match", "matchEffect", "matchCause", "matchCauseEffect"} and given:
        found = {each.name: each.value for each in given[0].parts if isinstance(each, n.Pair)}
        if {"onSuccess", "onFailure"} <= found.keys():
            return n.Invoke(before.at, n.Member(before.at, before, "then"), (found["onSuccess"], found["onFailure"]))
    if name == "ensuring" and given:
        return _member_call(before, "finally", _function(before, (), given[0], gives=True))
    return before


def _of_result(call: n.Invoke, of: n.Node, name: str, given: tuple[n.Node, ...]) -> n.Node:
    """A method of neverthrow's results, which are waited for where they come later."""
    result = _name(call, "result")
    value, error = n.Member(call.at, result, "value"), n.Member(call.at, result, "error")
    test = _member_call(result, "isOk")
    body: n.Node
    if name == "match" and len(given) == 2:  # noqa: PLR2004 - for ok and for err
        body = n.Either(call.at, test, _called(given[0], value), _called(given[1], error))
    elif name in {"andThen", "asyncAndThen", "andTee", "andThrough", "asyncAndThrough"} and given:
        body = n.Either(call.at, test, _called(given[0], value), result)
    elif name in {"orElse", "orTee"} and given:
        body = n.Either(call.at, test, result, _called(given[0], error))
    else:
        return of if name == "mapErr" else call
    return _called(_function(call, (result,), body, gives=True), n.Wait(call.at, of))


def _as_result(at: n.Node, promise: n.Node) -> n.Node:
    """What a promise gives, or how it fails, as a result."""
    if isinstance(promise, n.Lambda):
        promise = _called(promise)
    error = _name(at, "error")
    good = _called(n.Name(at.at, "ok", n.Scope()), n.Wait(at.at, promise))
    bad = _called(n.Name(at.at, "err", n.Scope()), error)
    handler = s.Case(at.at, (), s.Leave(at.at, RETURN, (bad,)), "error")
    nothing = n.Other(at.at, ())
    made = s.Attempt(at.at, s.Leave(at.at, RETURN, (good,)), (handler,), nothing, nothing)
    return _called(n.Lambda(at.at, "", (), (made,), True, False))


def _name(at: n.Node, name: str) -> n.Name:
    scope = n.Scope()
    scope.bind(name)
    return n.Name(at.at, name, scope)


def _function(at: n.Node, parameters: tuple[n.Node, ...], body: n.Node, *, gives: bool = False) -> n.Lambda:
    return n.Lambda(at.at, "", parameters, (body,), not gives, gives)


def _called(function: n.Node, *given: n.Node) -> n.Invoke:
    return n.Invoke(function.at, function, given)


def _member_call(of: n.Node, name: str, *given: n.Node) -> n.Invoke:
    return n.Invoke(of.at, n.Member(of.at, of, name), given)


def _promise(at: n.Node, name: str, given: n.Node) -> n.Invoke:
    return _member_call(n.Name(at.at, "Promise", n.Scope()), name, given)
