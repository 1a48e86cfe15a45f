"""Certificates and proxies: the token goes to nobody but the server that is meant."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from .hostile import TOKEN, Server, assert_silent
from .support import SHOP, audit


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Self-signed certificates for a name or an address, each with its key."""
    folder = tmp_path_factory.mktemp("certificates")

    def make(name):
        certificate, key = folder / f"{name[:3]}.pem", folder / f"{name[:3]}.key"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=cfq-lint test"]
        subprocess.run([*command, "-addext", f"subjectAltName={name}", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        return certificate, key

    return make("IP:127.0.0.1"), make("DNS:elsewhere.invalid")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_a_certificate_that_nobody_vouches_for_is_refused_before_anything_is_sent(room, certificates, monkeypatch, capfd, logs):
    monkeypatch.setenv("NO_PROXY", "*")
    (here, key), (elsewhere, its_key) = certificates
    with Server(SHOP, (here, key)) as server:
        code, _, err = audit("--base-url", server.url, out=capfd)
        assert code == 2
        assert "self-signed certificate; nothing was sent" in err or "self signed certificate; nothing was sent" in err
        assert "SSL_CERT_FILE" in err
        assert not server.seen
        monkeypatch.setenv("SSL_CERT_FILE", str(here))
        assert audit("--base-url", server.url, out=capfd)[0] in {0, 1}
        assert server.seen
    with Server(SHOP, (elsewhere, its_key)) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(elsewhere))
        code, _, err = audit("--base-url", server.url, out=capfd)
        assert code == 2
        assert "not valid for '127.0.0.1'" in err
        assert not server.seen
    with Server(SHOP) as server:
        code, _, err = audit("--base-url", server.url.replace("http:", "https:"), out=capfd)
        assert code == 2
        assert "not safe: no TLS" in err
    monkeypatch.setenv("SSL_CERT_FILE", str(room / "gone.pem"))
    code, _, err = audit("--base-url", "https://127.0.0.1:1", out=capfd)
    assert code == 2
    assert "SSL_CERT_FILE in the environment cannot be used" in err
    assert_silent(logs.text)


@pytest.mark.usefixtures("room")
def test_no_proxy_sees_the_token_on_its_way_to_this_machine(shop, monkeypatch, capfd):
    with Server(SHOP) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_port}")
        assert audit("--base-url", shop.url, out=capfd)[0] in {0, 1}
        assert shop.seen
        assert not proxy.seen
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"nonsense://{TOKEN}")
        code, _, err = audit("--base-url", "https://127.0.0.1:1", out=capfd)
        assert code == 2
        assert "proxy" in err
