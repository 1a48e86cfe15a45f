"""A GraphQL query about the account: which data sets it asks for, with which filters, and what is answered.

Queries have the shape `viewer { accounts(filter: {accountTag: …}) { data set(filter, limit, orderBy) { … } } }`:
https://developers.cloudflare.com/analytics/graphql-api/getting-started/querying-basics/.
"""

from __future__ import annotations

import datetime as dt
import operator
from functools import partial
from typing import TYPE_CHECKING, Any

from graphql import FieldNode, GraphQLError, OperationDefinitionNode, parse, value_from_ast_untyped

from emulator.engine.clock import moment_us
from emulator.server.analytics.data_sets import DATA_SETS, DataSet, Row, grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from emulator.server.analytics.figures import Figures

ROWS_MAX = 10_000
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "in": lambda own, given: own in given,
    "notin": lambda own, given: own not in given,
    "neq": operator.ne,
    "gt": operator.gt,
    "lt": operator.lt,
    "geq": operator.ge,
    "leq": operator.le,
    "": operator.eq,
}
_WINDOW = {"datetime_geq": 0, "datetime_gt": 1, "datetime_lt": 0, "datetime_leq": 1}
"""Conditions on the moment itself, and by how many microseconds they are off from a window that is open at its end."""
_LATEST_US = 2**62


class Answered:
    """Answers queries. `measure` gives the figures of a window, `ids` and `scripts` are the queues' by name."""

    def __init__(
        self, account: str | None, measure: Callable[[int, int], Figures], ids: Mapping[str, str], scripts: Mapping[str, str]
    ) -> None:
        self.account, self.measure, self.ids, self.scripts = account, measure, ids, scripts

    def answer(self, text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The data of a query. Raises GraphQLError for what is none, or asks for what is not there."""
        document = parse(text)
        asked = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
        if len(asked) != 1 or asked[0].operation.value != "query":
            raise GraphQLError("one query is expected")
        return {_key(viewer): self._viewer(viewer, variables) for viewer in _fields(asked[0], {"viewer"}, "query")}

    def _viewer(self, node: FieldNode, variables: Mapping[str, Any]) -> dict[str, Any]:
        found = {}
        for accounts in _fields(node, {"accounts"}, "viewer"):
            tag = _arguments(accounts, variables).get("filter", {}).get("accountTag")
            if self.account is not None and tag != self.account:
                raise GraphQLError("not authorized for that account", accounts)
            sets = _fields(accounts, set(DATA_SETS), "account")
            found[_key(accounts)] = [{_key(each): self._rows(each, variables) for each in sets}]
        return found

    def _rows(self, node: FieldNode, variables: Mapping[str, Any]) -> list[dict[str, Any]]:
        data_set, given = DATA_SETS[node.name.value], _arguments(node, variables)
        conditions = given.get("filter") or {}
        limit = given.get("limit")
        if not isinstance(limit, int) or not 0 < limit <= ROWS_MAX:
            raise GraphQLError(f"limit must be positive number and not greater than {ROWS_MAX}", node)
        start_us, end_us = _window(conditions, node)
        rows = data_set.rows(self.measure(start_us, end_us), self.ids, self.scripts)
        kept = [row for row in rows if _holds(row, conditions, data_set, node)]
        shown, dimensions = _shown(node, data_set)
        groups = grouped(kept, dimensions)
        found = [(own, {name: data_set.fields[name](parts) for name in shown}) for own, parts in groups]
        for order in reversed(given.get("orderBy") or []):
            name, _, way = str(order).rpartition("_")
            if (name not in dimensions and name not in shown) or way not in {"ASC", "DESC"}:
                raise GraphQLError(f"cannot order by {order}", node)
            found.sort(key=partial(_value, name), reverse=way == "DESC")
        return [_row(node, own, values) for own, values in found[:limit]]


def _window(conditions: Mapping[str, Any], node: FieldNode) -> tuple[int, int]:
    start_us, end_us = 0, _LATEST_US
    for name, more_us in _WINDOW.items():
        if name in conditions:
            try:
                at_us = moment_us(dt.datetime.fromisoformat(str(conditions[name]))) + more_us
            except ValueError as error:
                raise GraphQLError(f"{name} is no time: {conditions[name]!r}", node) from error
            start_us, end_us = (max(start_us, at_us), end_us) if "_g" in name else (start_us, min(end_us, at_us))
    return start_us, end_us


def _holds(row: Row, conditions: Mapping[str, Any], data_set: DataSet, node: FieldNode) -> bool:
    own, _ = row
    for condition, value in conditions.items():
        if condition in _WINDOW:
            continue
        name, _, way = condition.partition("_")
        if name not in data_set.dimensions or way not in _OPERATORS:
            raise GraphQLError(f"unknown filter {condition}", node)
        if not _OPERATORS[way](own[name], value):
            return False
    return True


def _shown(node: FieldNode, data_set: DataSet) -> tuple[list[str], list[str]]:
    """The fields that are asked for, by their paths, and the dimensions."""
    shown, dimensions = [], []
    for field in _fields(node, None, node.name.value):
        name = field.name.value
        inner = [each.name.value for each in _fields(field, None, name)] if field.selection_set is not None else []
        if name == "dimensions":
            dimensions += inner
        else:
            shown += [f"{name}.{each}" for each in inner] or [name]
    for name in shown:
        if name not in data_set.fields:
            raise GraphQLError(f"unknown field {name} of {node.name.value}", node)
    for name in dimensions:
        if name not in data_set.dimensions:
            raise GraphQLError(f"unknown dimension {name} of {node.name.value}", node)
    return shown, dimensions


def _row(node: FieldNode, own: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for field in _fields(node, None, ""):
        name = field.name.value
        if field.selection_set is None:
            made[_key(field)] = values[name]
        else:
            inner = list(_fields(field, None, ""))
            made[_key(field)] = {
                _key(each): own[each.name.value] if name == "dimensions" else values[f"{name}.{each.name.value}"]
                for each in inner
            }
    return made


def _fields(node: FieldNode | OperationDefinitionNode, known: set[str] | None, where: str) -> Iterator[FieldNode]:
    for each in node.selection_set.selections if node.selection_set is not None else ():
        if not isinstance(each, FieldNode):
            raise GraphQLError("fragments are not known here", each)
        if known is not None and each.name.value not in known:
            raise GraphQLError(f"unknown field {each.name.value} of {where}", each)
        yield each


def _value(name: str, row: Row) -> Any:
    own, values = row
    return own[name] if name in own else values[name]


def _key(node: FieldNode) -> str:
    return node.alias.value if node.alias is not None else node.name.value


def _arguments(node: FieldNode, variables: Mapping[str, Any]) -> dict[str, Any]:
    return {each.name.value: value_from_ast_untyped(each.value, dict(variables)) for each in node.arguments or ()}


def errors_of(error: GraphQLError, at: str) -> list[dict[str, Any]]:
    """An error as the service tells it."""
    return [{"message": error.message, "path": error.path, "extensions": {"timestamp": at}}]
