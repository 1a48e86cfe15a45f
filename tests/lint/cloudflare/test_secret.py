"""The token goes into one header and out of every text, however it is spelt there."""

from __future__ import annotations

import json
import pickle
from base64 import b64encode, urlsafe_b64encode
from html import escape
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cfq_lint.account.errors import WrongAccess
from cfq_lint.account.secret import LENGTH_MIN, Secret

from .hostile import TOKEN, assert_silent

tokens = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=LENGTH_MIN, max_size=60)
ENCODINGS = {
    "plain": str, "upper": str.upper, "lower": str.lower, "percent": lambda text: quote(text, safe=""), "html": escape,
    "hexadecimal": lambda text: text.encode().hex(), "json": lambda text: json.dumps(text)[1:-1],
}  # fmt: skip


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(token=tokens)
def test_a_token_is_taken_out_of_a_text(encoding, token):
    shown = ENCODINGS[encoding](token)
    scrubbed = Secret(token).scrub(f"«{shown}» and «{shown}»")
    assert scrubbed == "«[token]» and «[token]»"


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), encode=st.sampled_from([b64encode, urlsafe_b64encode]))
def test_a_token_is_taken_out_of_base64_wherever_it_stands_within(before, after, encode):
    shown = encode(before + TOKEN.encode() + after).decode()
    scrubbed = Secret(TOKEN).scrub(shown)
    assert "[token]" in scrubbed
    # What is left of the token are the letters that share a group of three bytes with something else.
    left = scrubbed.replace("[token]", "")
    assert len(left) <= len(encode(before + after)) + 8


@settings(max_examples=60)
@given(st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.just(TOKEN), st.text()), lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.sampled_from([TOKEN, "a", "\x1b[2J"]), inner))))
def test_a_token_is_taken_out_of_json_keys_too_and_nothing_plays_with_the_terminal(value):
    scrubbed = Secret(TOKEN).scrub_json(value)
    assert_silent(json.dumps(scrubbed, ensure_ascii=False))
    if isinstance(scrubbed, str):
        assert scrubbed.isprintable()


def test_what_holds_no_token_stays_as_it_is():
    value = {"a": ["orders", 1, None, True, 1.5, {"größe": "日本"}]}
    assert Secret(TOKEN).scrub_json(value) == value


@pytest.mark.parametrize("short", ["t", "test", "a" * (LENGTH_MIN - 1)])
def test_a_token_so_short_that_it_is_none_is_not_taken_out_of_innocent_words(short):
    assert Secret(short).scrub("a latest test") == "a latest test"
    assert Secret(short).headers == {"Authorization": f"Bearer {short}"}


@pytest.mark.parametrize("bad", ["", "   ", "\n", "to ken-0123456", "tok\nen-0123456", "tökén-0123456", "token\x00-0123456", "token\x7f0123456", "token\u2028012345"])
def test_a_token_that_cannot_stand_in_a_header_is_refused_without_being_shown(bad):
    with pytest.raises(WrongAccess) as caught:
        Secret(bad)
    assert "CLOUDFLARE_API_TOKEN" in str(caught.value)
    assert not bad.strip() or bad not in str(caught.value)


def test_space_around_a_token_is_none_of_it():
    assert Secret(f" {TOKEN}\n").headers == {"Authorization": f"Bearer {TOKEN}"}


def test_a_secret_shows_itself_to_nobody():
    secret = Secret(TOKEN)
    assert_silent(repr(secret), str(secret), f"{secret}", repr([secret]))
    assert not hasattr(secret, "__dict__")
    with pytest.raises(TypeError):
        pickle.dumps(secret)
