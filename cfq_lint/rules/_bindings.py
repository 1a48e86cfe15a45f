"""The bindings of a Worker that are not queues: which keys of a wrangler file hold them, and under which name.

https://developers.cloudflare.com/workers/wrangler/configuration/#bindings
"""

from __future__ import annotations

from cfq_lint.model.wrangler import fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.wrangler import Environment, Field
    from cfq_lint.source.text import Place

_LISTS = {
    "kv_namespaces": "a KV namespace",
    "r2_buckets": "an R2 bucket",
    "d1_databases": "a D1 database",
    "services": "a service",
    "analytics_engine_datasets": "an Analytics Engine dataset",
    "vectorize": "a Vectorize index",
    "hyperdrive": "a Hyperdrive configuration",
    "workflows": "a workflow",
    "dispatch_namespaces": "a dispatch namespace",
    "mtls_certificates": "an mTLS certificate",
    "secrets_store_secrets": "a secret of the Secrets Store",
    "pipelines": "a pipeline",
    "worker_loaders": "a Worker loader",
    "vpc_services": "a VPC service",
    "ratelimits": "a rate limit",
    "send_email": "an e-mail binding",
}
_SINGLE = {
    "ai": "Workers AI",
    "browser": "Browser Rendering",
    "images": "Images",
    "media": "Media Transformations",
    "version_metadata": "the version metadata",
    "assets": "the static assets",
}
_NESTED = {
    "durable_objects": "a Durable Object",
    "logfwdr": "a log forwarder",
    "unsafe": "an unsafe binding",
}
_MAPS = {
    "vars": "a variable",
    "wasm_modules": "a WebAssembly module",
    "text_blobs": "a text blob",
    "data_blobs": "a data blob",
}


def other_bindings(environment: Environment) -> Iterator[tuple[str, str, Place]]:
    """Name, kind in words, and place of every binding of an environment that is not a queue."""
    for key, field in environment.fields.items():
        if key in _LISTS:
            yield from _named(field, _LISTS[key])
        elif key in _SINGLE:
            yield from _name(field.fields, _SINGLE[key])
        elif key in _NESTED and "bindings" in field.fields:
            yield from _named(field.fields["bindings"], _NESTED[key])
        elif key in _MAPS:
            for name, variable in field.fields.items():
                yield name, _MAPS[key], variable.key_place


def _named(field: Field, kind: str) -> Iterator[tuple[str, str, Place]]:
    for item in field.items:
        yield from _name(fields_of(field.document, item), kind)


def _name(fields: dict[str, Field], kind: str) -> Iterator[tuple[str, str, Place]]:
    for key in ("binding", "name"):
        field = fields.get(key)
        if field is not None and field.text:
            yield field.text, kind, field.place
            return
