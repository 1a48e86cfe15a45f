"""The token, or the key: it goes into one header, and out of every text that came from elsewhere."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from html import escape
from typing import Any, NoReturn
from urllib.parse import quote

from cfq_lint.account.errors import WrongAccess

SHOWN = "[token]"
LENGTH_MIN = 6
"""A shorter one is none of Cloudflare's, and its letters would be taken out of innocent words."""
_FIRST, _LAST = "!", "~"
_BASE64_GROUP = 3


class Secret:
    """A token that shows itself to nobody; with an e-mail the Global API Key of that user, which has headers of its own.

    Raises WrongAccess for what cannot stand in a header.
    """

    __slots__ = ("_headers", "_pattern")

    def __init__(self, text: str, email: str | None = None) -> None:
        text = text.strip()
        what, variable = ("token", "CLOUDFLARE_API_TOKEN") if email is None else ("key", "CLOUDFLARE_API_KEY")
        if not _is_header(text):
            raise WrongAccess(
                f"the API {what} is empty, or holds a space or a character that no {what} has; copy it anew into {variable}"
            )
        if email is None:
            self._headers = {"Authorization": f"Bearer {text}"}
        else:
            email = email.strip()
            if not _is_header(email):
                raise WrongAccess("the e-mail of the API key holds a space or a character that none has: see CLOUDFLARE_EMAIL")
            self._headers = {"X-Auth-Key": text, "X-Auth-Email": email}
        spellings = sorted(_spellings(text), key=len, reverse=True) if len(text) >= LENGTH_MIN else []
        self._pattern = re.compile("|".join(map(re.escape, spellings)), re.IGNORECASE) if spellings else None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that it is sent in."""
        return self._headers

    def scrub(self, text: str) -> str:
        """The text without the token, however it is spelt."""
        return text if self._pattern is None else self._pattern.sub(SHOWN, text)

    def scrub_json(self, value: Any) -> Any:
        """Plain JSON without the token, and without characters that do more to a terminal than show themselves."""
        if isinstance(value, str):
            text = self.scrub(value)
            return (
                text
                if text.isprintable()
                else "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
            )
        if isinstance(value, dict):
            return {self.scrub_json(key): self.scrub_json(each) for key, each in value.items()}
        return [self.scrub_json(each) for each in value] if isinstance(value, list) else value

    def __repr__(self) -> str:
        return SHOWN

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written down")


def _is_header(text: str) -> bool:
    return bool(text) and all(_FIRST <= each <= _LAST for each in text)


def _spellings(text: str) -> set[str]:
    """The token as it is, percent-encoded, escaped, as hexadecimal digits, and what is certain of it within any Base64."""
    found = {text, quote(text, safe=""), text.encode().hex(), json.dumps(text)[1:-1], escape(text)}
    for encode in (b64encode, urlsafe_b64encode):
        for before in range(_BASE64_GROUP):
            # The first and the last group depend on what stands around the token; those between do not.
            data = b"\0" * before + text.encode()
            whole = encode(data[: len(data) // _BASE64_GROUP * _BASE64_GROUP]).decode()
            found.add(whole[4:] if before else whole)
    return {each for each in found if len(each) >= LENGTH_MIN}
