"""A small client of the REST API. What the server refuses ends the command with exit code 1."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NoReturn, Self

import httpx
import typer

from emulator.engine.bodies import json_text

Server = Annotated[str, typer.Option(metavar="URL", envvar="CFQ_EMULATOR_URL", help="The server's base URL.")]
Token = Annotated[str | None, typer.Option(metavar="T", envvar="CFQ_EMULATOR_CLIENT_TOKEN", help="A bearer token.")]
Account = Annotated[str, typer.Option(metavar="A", help="The account.")]
URL, ACCOUNT = "http://127.0.0.1:8787", "local"
_SECONDS = 30.0


class Rest:
    """Requests to one account of a server."""

    def __init__(self, url: str, token: str | None, account_id: str) -> None:
        base = url.rstrip("/")
        base = base if base.endswith("/client/v4") else f"{base}/client/v4"
        self._root, self._account_id = base.removesuffix("/client/v4"), account_id
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        try:
            self._client = httpx.Client(
                base_url=f"{base}/accounts/{account_id}", headers=headers, timeout=_SECONDS, trust_env=False
            )
        except httpx.InvalidURL as error:
            self.fail(f"{url}: {error}")
        except UnicodeEncodeError:
            self.fail("a token is plain ASCII")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, path: str, **query: Any) -> Any:
        """The result of a GET."""
        return self._result(self._client.build_request("GET", path, params=query))

    def post(self, path: str, body: Any) -> Any:
        """The result of a POST."""
        return self._result(self._post(path, body))

    def delete(self, path: str) -> None:
        """A DELETE."""
        self._result(self._client.build_request("DELETE", path))

    def _post(self, path: str, body: Any) -> httpx.Request:
        """A POST of JSON; half of a surrogate pair is a text, too."""
        kind = {"Content-Type": "application/json"}
        return self._client.build_request("POST", path, content=json_text.encode(body), headers=kind)

    def watcher(self, path: str, body: Any) -> Any:
        """The answer of what the server has beside Cloudflare's API; it has no envelope."""
        answer = self._answer(self._post(f"{self._root}{path}", body))
        if not isinstance(answer, dict) or "error" in answer:
            error = answer["error"] if isinstance(answer, dict) else {}
            self.fail(f"{error.get('message')} ({error.get('code')})")
        return answer

    def queue(self, name: str) -> dict[str, Any]:
        """A queue by its name, as wrangler finds it."""
        found = self.get("/queues", page=1, name=name)
        if not found:
            self.fail(f"there is no queue {name!r}: {self.command(f'create {name}')}")
        row: dict[str, Any] = found[0]
        return row

    def queue_id(self, name: str) -> str:
        """The id of a queue by its name."""
        return str(self.queue(name)["queue_id"])

    def command(self, text: str) -> str:
        """A command to type, with the address of this server: what is advised must not reach another one."""
        account = "" if self._account_id == ACCOUNT else f" --account-id {self._account_id}"
        return f"cfq-emulator {text} --url {self._root}{account}"

    def fail(self, text: str) -> NoReturn:
        """End with exit code 1, and a word why."""
        print(f"cfq-emulator: {text}", file=sys.stderr)
        raise typer.Exit(1)

    def _result(self, request: httpx.Request) -> Any:
        answer = self._answer(request)
        if not isinstance(answer, dict) or not answer.get("success"):
            errors = answer.get("errors", []) if isinstance(answer, dict) else []
            self.fail(
                "; ".join(f"{e.get('message')} ({e.get('code')})" for e in errors) or f"{request.url}: no answer of this API"
            )
        return answer["result"]

    def _answer(self, request: httpx.Request) -> Any:
        try:
            response = self._client.send(request)
            return json_text.decode(response.content)
        except httpx.HTTPError as error:
            self.fail(f"{request.url}: {error}")
        except ValueError:
            self.fail(f"{request.url}: the answer is no JSON (HTTP status {response.status_code})")
