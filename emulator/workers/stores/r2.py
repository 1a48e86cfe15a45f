"""An R2 bucket in memory: objects with metadata and checksums, reads of ranges, conditions, listing, multipart uploads.

https://developers.cloudflare.com/r2/api/workers/workers-api-reference/ and .../r2/platform/limits/. Whoever speaks to a Worker
(workerd's wire, a Python Worker's binding) stands before it. Codes and texts of refusals are those of miniflare 4, whose
behaviour the tests compare. A write is seen at once, as R2 promises.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from emulator.workers.stores.r2_requests import NO_CONDITION, Condition, Metadata, R2Refused, Range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

KEY_BYTES_MAX = 1_024
METADATA_BYTES_MAX = 8_192
PART_BYTES_MIN = 5 * 1024 * 1024
"""Of every part of an upload but the last."""
LIST_MAX, LIST_WITH_METADATA_MAX = 1_000, 100
"""How many entries one `list` gives; fewer where metadata is asked for, as its answers have a limited size."""
HASHES = ("md5", "sha1", "sha256", "sha384", "sha512")


class Stored(NamedTuple):
    """An object. `checksums` are hexadecimal, by algorithm."""

    key: str
    version: str
    body: bytes
    etag: str
    uploaded_ms: int
    metadata: Metadata
    checksums: Mapping[str, str]


class Listed(NamedTuple):
    """One page of a bucket. `cursor` is None on the last."""

    objects: tuple[Stored, ...]
    prefixes: tuple[str, ...]
    cursor: str | None


class _Upload:
    """A multipart upload; `parts` by number: (etag, content). `over` once it is completed or given up."""

    def __init__(self, key: str, metadata: Metadata) -> None:
        self.key, self.metadata = key, metadata
        self.parts: dict[int, tuple[str, bytes]] = {}
        self.over = False


class R2:
    """A bucket. `now_ms` is the clock. Every call raises R2Refused."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._objects: dict[str, Stored] = {}
        self._uploads: dict[str, _Upload] = {}
        self._drawn = 0

    def held(self) -> str:
        """All of it, as text."""
        uploads = [(id, vars(each)) for id, each in self._uploads.items()]
        return repr((self._objects, uploads, self._drawn))

    def head(self, key: str) -> Stored:
        """The object without a read. Refused (10007) where there is none."""
        found = self._objects.get(_checked(key))
        if found is None:
            raise R2Refused(404, 10007, "The specified key does not exist.")
        return found

    def get(self, key: str, part: Range | None = None, only_if: Condition = NO_CONDITION) -> tuple[Stored, int, bytes]:
        """The object, where what is read begins, what is read. A condition that fails is refused (10031), with the object."""
        found = self.head(key)
        only_if.check(found.etag, found.uploaded_ms, found)
        start, end = (0, len(found.body)) if part is None else part.within(len(found.body))
        return found, start, found.body[start:end]

    def put(
        self,
        key: str,
        body: bytes,
        metadata: Metadata,
        hashes: Mapping[str, bytes],
        only_if: Condition = NO_CONDITION,
    ) -> Stored:
        """Store an object over what was there. `hashes` are what the sender says of the body, by algorithm."""
        _checked(key)
        metadata.check(METADATA_BYTES_MAX)
        checksums = {"md5": hashlib.md5(body, usedforsecurity=False).hexdigest()}
        for name in HASHES:
            given, found = hashes.get(name), hashlib.new(name, body, usedforsecurity=False)
            if given is not None and given != found.digest():
                shown = name.upper() if name == "md5" else name.replace("sha", "SHA-")
                raise R2Refused(
                    400, 10037,
                    f"The {shown} checksum you specified did not match what we received.\nYou provided a {shown} checksum with "
                    f"value: {given.hex()}\nActual {shown} was: {found.hexdigest()}",
                )  # fmt: skip
            if given is not None:
                checksums[name] = found.hexdigest()
        before = self._objects.get(key)
        if before is None:
            only_if.check_absent()
        else:
            only_if.check(before.etag, before.uploaded_ms, None)
        return self._store(key, body, checksums["md5"], metadata, checksums)

    def delete(self, keys: Iterable[str]) -> None:
        """Take objects away, those that are there."""
        for key in [_checked(each) for each in keys]:
            self._objects.pop(key, None)

    def list(
        self,
        prefix: str = "",
        *,
        limit: int = LIST_MAX,
        delimiter: str = "",
        start_after: str = "",
        cursor: str | None = None,
        with_metadata: bool = False,
    ) -> Listed:
        """A page of the objects in order of key; keys with the delimiter behind the prefix are told as prefixes, each once."""
        if not 1 <= limit <= LIST_MAX:
            raise R2Refused(400, 10022, "MaxKeys params must be positive integer <= 1000.")
        limit = min(limit, LIST_WITH_METADATA_MAX) if with_metadata else limit
        after = max(start_after, "" if cursor is None else _decoded(cursor))
        names = sorted(self._objects)
        found: dict[str, str] = {}  # what is told, with the last key that it stands for
        for key in names[bisect_right(names, after) if after else 0 :]:
            if key.startswith(prefix):
                cut = key.find(delimiter, len(prefix)) if delimiter else -1
                told = key if cut < 0 else key[: cut + len(delimiter)]
                if told not in found and len(found) == limit:
                    last = found[next(reversed(found))]
                    return self._listed(found, urlsafe_b64encode(last.encode()).decode())
                found[told] = key
        return self._listed(found, None)

    def _listed(self, found: Mapping[str, str], cursor: str | None) -> Listed:
        objects = tuple(self._objects[told] for told, last in found.items() if told == last)
        return Listed(objects, tuple(told for told, last in found.items() if told != last), cursor)

    # --- multipart uploads

    def create_upload(self, key: str, metadata: Metadata) -> str:
        """Begin an upload in parts; its id."""
        _checked(key)
        metadata.check(METADATA_BYTES_MAX)
        id = self._draw() + self._draw()
        self._uploads[id] = _Upload(key, metadata)
        return id

    def upload_part(self, key: str, upload_id: str, number: int, body: bytes) -> str:
        """Keep a part, over one of the same number; its etag."""
        upload = self._uploads.get(upload_id)
        if upload is None or upload.key != _checked(key) or upload.over:
            raise _no_upload()
        etag = self._draw()
        upload.parts[number] = etag, body
        return etag

    def complete_upload(self, key: str, upload_id: str, parts: Sequence[tuple[int, str]]) -> Stored:
        """Make the object of parts, each (number, etag)."""
        upload = self._uploads.get(upload_id)
        if upload is None or upload.key != _checked(key):
            raise _internal()
        if upload.over:
            raise _no_upload()
        if len({number for number, _ in parts}) < len(parts):
            raise _internal()
        if any(upload.parts.get(number, ("", b""))[0] != etag for number, etag in parts):
            raise R2Refused(400, 10025, "One or more of the specified parts could not be found.")
        if any(len(upload.parts[number][1]) < PART_BYTES_MIN for number, _ in parts[:-1]):
            raise R2Refused(400, 10011, "Your proposed upload is smaller than the minimum allowed object size.")
        bodies = [upload.parts[number][1] for number, _ in sorted(parts)]
        if any(len(each) < PART_BYTES_MIN or len(each) != len(bodies[0]) for each in bodies[:-1]) or (
            len(bodies) > 1 and len(bodies[-1]) > len(bodies[0])
        ):
            raise R2Refused(500, 10048, "There was a problem with the multipart upload.")
        upload.over = True
        upload.parts.clear()
        digests = b"".join(hashlib.md5(each, usedforsecurity=False).digest() for each in bodies)
        etag = f"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{len(bodies)}"
        return self._store(key, b"".join(bodies), etag, upload.metadata, {})

    def abort_upload(self, key: str, upload_id: str) -> None:
        """Give an upload up; also again, and behind its end."""
        upload = self._uploads.get(upload_id)
        if upload is None or upload.key != _checked(key):
            raise _internal()
        upload.over = True
        upload.parts.clear()

    def _store(self, key: str, body: bytes, etag: str, metadata: Metadata, checksums: Mapping[str, str]) -> Stored:
        made = Stored(key, self._draw(), body, etag, self._now_ms(), metadata, checksums)
        self._objects[key] = made
        return made

    def _draw(self) -> str:
        """Something that stands for one version, upload or part, the same in every run: 32 hex digits."""
        self._drawn += 1
        return hashlib.blake2b(self._drawn.to_bytes(8, "big"), digest_size=16).hexdigest()


def _checked(key: str) -> str:
    if len(key.encode("utf-8", "surrogatepass")) > KEY_BYTES_MAX:
        raise R2Refused(400, 10020, "The specified object name is not valid.")
    return key


def _decoded(cursor: str) -> str:
    try:
        return urlsafe_b64decode(cursor).decode()
    except ValueError:
        raise R2Refused(400, 10029, "The continuation token is not valid.") from None


def _internal() -> R2Refused:
    return R2Refused(500, 10001, "We encountered an internal error. Please try again.")


def _no_upload() -> R2Refused:
    return R2Refused(400, 10024, "The specified multipart upload does not exist.")
