"""Which endpoint a path means: a tree of its segments, so that finding one of fifty costs no more than finding one of five."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from emulator.server.wire.endpoint import Endpoint


class Found(NamedTuple):
    """What stands at a path: its endpoints by method, and the values of the path's parameters."""

    methods: dict[str, Endpoint]
    params: dict[str, str]


class _Node:
    __slots__ = ("any", "known", "methods", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.known: dict[str, _Node] = {}
        self.any: _Node | None = None
        self.methods: dict[str, Endpoint] = {}


class Routes:
    """Endpoints by path, such as `/queues/{queue_id}/purge`. A parameter stands for one segment that is not empty."""

    def __init__(self) -> None:
        self._root = _Node("")

    def add(self, method: str, path: str, endpoint: Endpoint) -> None:
        """Put an endpoint at a path. What answers GET answers HEAD."""
        node = self._root
        for segment in path.split("/")[1:]:
            if segment.startswith("{"):
                node.any = node = node.any or _Node(segment[1:-1])
            else:
                node = node.known.setdefault(segment, _Node(segment))
        for each in (method, "HEAD") if method == "GET" else (method,):
            node.methods[each] = endpoint

    def find(self, path: str) -> Found | None:
        """What stands at a path; None where nothing does."""
        node, params = self._root, {}
        for segment in path.split("/")[1:]:
            following = node.known.get(segment)
            if following is None:
                following = node.any
                if following is None or not segment:
                    return None
                params[following.name] = segment
            node = following
        return Found(node.methods, params) if node.methods else None
