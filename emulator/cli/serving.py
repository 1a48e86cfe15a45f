"""`cfq-emulator serve`."""

from __future__ import annotations

import importlib
import os
import socket
import sqlite3
import sys
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from emulator.core.refusals import Refused
from emulator.engine.clock import WallClock, moment
from emulator.engine.journal import JournalError
from emulator.engine.journal.opening import is_postgres
from emulator.engine.journal.sqlite import SQLiteJournal
from emulator.engine.targets.real_time import RealTime
from emulator.engine.targets.thread import ThreadTarget
from emulator.engine.targets.url import PUSH_SECONDS, URLTarget
from emulator.server.directory_file import DirectoryFile
from emulator.server.file_lock import FileLock, InUse
from emulator.server.observe import logs
from emulator.server.service import Service
from emulator.server.single import Single
from emulator.server.uvicorn_server import bind, is_loopback, run
from emulator.server.workers import Workers, introduce
from emulator.testing.emulator import START, Emulator
from emulator.workers.config import load
from emulator.workers.outgoing import forwarding

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from emulator.engine.delivery import Target
    from emulator.engine.journal import Journal
    from emulator.engine.journal.shared import SharedJournal
    from emulator.server.directory import Store
    from emulator.server.nodes import Node, Running
    from emulator.server.observe.watch import Watch

MEMORY = ":memory:"
PORT = 8787


def serve(
    config: Annotated[str | None, typer.Option(metavar="F", help="A wrangler file: its queues and consumers.")] = None,
    env: Annotated[str | None, typer.Option(metavar="E", help="An environment of that file.")] = None,
    worker: Annotated[
        list[str] | None,
        typer.Option(metavar="F", help="A wrangler file whose Worker runs here, on the server's time; opens /emulator/…."),
    ] = None,
    outgoing: Annotated[
        str | None, typer.Option(metavar="URL", help="The server that answers what Workers fetch; refused without one.")
    ] = None,
    plan: Annotated[str, typer.Option(metavar="P", help="free or paid.")] = "paid",
    host: Annotated[
        str, typer.Option(metavar="H", help="Where to listen; beyond this computer only with a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65_535, help="0 takes one that is free.")] = PORT,
    db: Annotated[
        str | None,
        typer.Option(
            metavar="F",
            help=f"Where to keep everything: a file (SQLite) or postgresql://…; {MEMORY} keeps nothing. "
            "[default: .cfq-emulator/PORT.db]",
        ),
    ] = None,
    sync: Annotated[
        str, typer.Option(metavar="S", help="Of a file: normal survives the process, full also the machine.")
    ] = "normal",
    token: Annotated[
        list[str] | None,
        typer.Option(metavar="T", envvar="CFQ_EMULATOR_TOKEN", help="A token that is asked for; T:read may only read."),
    ] = None,
    account_id: Annotated[str | None, typer.Option(metavar="A", help="The only account to answer for.")] = None,
    time: Annotated[str, typer.Option(metavar="T", help="real, virtual, or a speed such as 60x.")] = "real",
    seed: Annotated[int | None, typer.Option(metavar="N", help="The same ids and faults in every run; drawn without.")] = None,
    start: Annotated[str | None, typer.Option(metavar="T", help="When virtual time starts (ISO).")] = None,
    control: Annotated[bool, typer.Option(help="Open /emulator/…: time, faults, events, reset.")] = False,
    queue: Annotated[list[str] | None, typer.Option(metavar="Q", help="A queue to create if it is missing.")] = None,
    push: Annotated[list[str] | None, typer.Option(metavar="Q=URL", help="Post that queue's batches to a URL.")] = None,
    push_timeout: Annotated[float, typer.Option(metavar="S", min=0.01, help="An endpoint's seconds to answer.")] = PUSH_SECONDS,
    consumer: Annotated[
        list[str] | None,
        typer.Option(metavar="Q=M:H", help="Give that queue's batches to a Python handler, module:name."),
    ] = None,
    log: Annotated[str, typer.Option(metavar="F", help="What to log on standard error: text, json or off.")] = "text",
    log_level: Annotated[str, typer.Option(metavar="L", help="debug, info, warning or error.")] = "info",
    grace: Annotated[float, typer.Option(metavar="S", min=0, help="Seconds for what runs to end, after SIGTERM.")] = 10.0,
) -> None:
    """Serve Cloudflare's REST API for queues until SIGTERM or Ctrl-C."""
    chosen = locals()
    try:
        _serve(**chosen)
    except (Refused, InUse, JournalError, OSError, ValueError, TypeError, ImportError, AttributeError, sqlite3.Error) as error:
        text = error.text if isinstance(error, Refused) else str(error)
        text = f"the database cannot be made or written: {error}" if isinstance(error, sqlite3.Error) else text
        print(f"cfq-emulator: {text}", file=sys.stderr)
        raise typer.Exit(2) from None


def _serve(*, host: str, port: int, db: str | None, token: list[str] | None, **given: Any) -> None:
    if given["log"] != "off":
        logs.configure(sys.stderr, given["log"], given["log_level"])
    if not token and not is_loopback(host):
        message = f"{host} is reached from beyond this computer: give a --token"
        raise ValueError(message)
    listener = bind(host, port)
    lock: FileLock | None = None
    try:
        path = _path(db, port)
        if path is not None and not is_postgres(path):
            lock = FileLock(path)
        address, tokens = _address(listener), token or ()
        node: Single | Node
        if path is not None and is_postgres(path):
            node = _node(path, host, listener.getsockname()[1], tokens, given)
        else:
            node = Single(_service(path, tokens, **given))
        run(node, listener, lambda: _announce(address, path, given["time"], tokens), grace_seconds=given["grace"])
    finally:
        listener.close()
        if lock is not None:
            lock.close()
    print("cfq-emulator: stopped", flush=True)


def _path(db: str | None, port: int) -> str | None:
    """The database: in the working folder, one for each port, unless told otherwise. A chance port keeps nothing."""
    if db == MEMORY or (db is None and port == 0):
        return None
    if db is None:
        folder = Path(".cfq-emulator")
        folder.mkdir(exist_ok=True)
        with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as ignore:
            ignore.write("*\n")
        return str(folder / f"{port}.db")
    return db


def _service(path: str | None, tokens: Iterable[str], **given: Any) -> Service:
    """The service of a server that is the only one of its file."""
    if given["sync"] not in {"normal", "full"}:
        raise ValueError("--sync is normal or full")
    journal, store = SQLiteJournal(path or "", given["sync"].upper()), None if path is None else DirectoryFile(path)
    return _leading(journal, store, tokens, given)


def _node(url: str, host: str, port: int, tokens: Iterable[str], given: dict[str, Any]) -> Node:
    """One of several servers on a database."""
    from emulator.server.nodes import Node  # loads psycopg

    def lead(journal: SharedJournal, running: Running, watch: Watch | None) -> Service:
        return _leading(journal, journal, tokens, given, running=running, watch=watch)

    def follow(journal: SharedJournal, running: Running, watch: Watch | None) -> Service:
        emulator = Emulator(**_options(given, journal))
        return Service(emulator, store=journal, running=running, watch=watch, tokens=tokens, **_of_service(given))

    own = "" if ip_address(socket.gethostbyname(host)).is_unspecified else host
    return Node(url, given["account_id"] or "", host=own, port=port, mode=given["time"], lead=lead, follow=follow)


def _options(given: dict[str, Any], journal: Journal) -> dict[str, Any]:
    """What an emulator is made with."""
    begin: datetime | str = given["start"] or (START if given["time"] == "virtual" else moment(WallClock().now_us()))
    return {"plan": given["plan"], "seed": given["seed"], "start": begin, "journal": journal}


def _of_service(given: dict[str, Any]) -> dict[str, Any]:
    """What a service is made with, whether it leads or follows."""
    control = given["control"] or bool(given["worker"])
    return {"time": given["time"], "account_id": given["account_id"], "control": control}


def _leading(journal: Journal, store: Store | None, tokens: Iterable[str], given: dict[str, Any], **own: Any) -> Service:
    """A service that runs what the options name."""
    plan, options = given["plan"], _options(given, journal)
    config, files = given["config"], given["worker"] or []
    configs = [*([config] if config is not None else []), *files]
    emulator = Emulator.from_wrangler(configs, env=given["env"], **options) if configs else Emulator(**options)
    workers = _workers(emulator, files, given["env"], given["outgoing"])
    targets = _targets(emulator, given["push"] or (), given["consumer"] or (), given["push_timeout"])
    service = Service(emulator, tokens=tokens, store=store, targets=targets, workers=workers, **own, **_of_service(given))
    for name in dict.fromkeys([*(given["queue"] or ()), *targets]):
        if name not in emulator.queues:
            emulator.create_queue(name)
    if config is not None:
        introduce(service.directory, load(config, given["env"], plan), service.now_us)
    service.attach_targets()
    return service


def _workers(emulator: Emulator, files: list[str], env: str | None, outgoing: str | None) -> Workers | None:
    if not files:
        if outgoing is not None:
            raise ValueError("--outgoing is for Workers: give a --worker")
        return None
    return Workers(emulator, files, env, None if outgoing is None else forwarding(outgoing))


def _targets(emulator: Emulator, pushes: Iterable[str], handlers: Iterable[str], timeout_seconds: float) -> dict[str, Target]:
    found: dict[str, Target] = {}
    runtime = RealTime()
    for given in pushes:
        queue, url = _pair(given, "--push QUEUE=URL")
        found[queue] = URLTarget(runtime, url, timeout_seconds=timeout_seconds)
    for given in handlers:
        queue, target = _pair(given, "--consumer QUEUE=module:handler")
        if queue in found:
            message = f"queue {queue!r} has two consumers; it may have one"
            raise ValueError(message)
        found[queue] = ThreadTarget(runtime, _loaded(target), emulator.env)
    return found


def _pair(given: str, form: str) -> tuple[str, str]:
    left, equals, right = given.partition("=")
    if not (left and equals and right):
        message = f"{given!r} is not of the form {form}"
        raise ValueError(message)
    return left, right


def _loaded(target: str) -> Any:
    """A handler by `module:name`, the module also from the working folder."""
    module, colon, name = target.partition(":")
    if not colon:
        message = f"{target!r} is not of the form module:handler"
        raise ValueError(message)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return getattr(importlib.import_module(module), name)


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _shown(path: str | None) -> str:
    """Where everything is kept; of a URL neither user nor password."""
    if path is None:
        return "a file without a name, until the end"
    if not is_postgres(path):
        return path
    parts = urlsplit(path)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _announce(address: str, path: str | None, time: str, tokens: Iterable[str]) -> None:
    print(f"cfq-emulator: serving {address}/client/v4", flush=True)
    print(f"cfq-emulator: time {time}, kept in {_shown(path)}", flush=True)
    if not tokens:
        print("cfq-emulator: no --token, so everybody on this computer may do everything", flush=True)
