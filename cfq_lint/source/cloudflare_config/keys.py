"""The keys of `cloudflare.config.ts` and wrangler's for them: those that concern queues, and the bindings that stand beside.

Source: `@cloudflare/config` 0.4.0 and wrangler 4.164, `convertToWranglerConfig`.
"""

from __future__ import annotations

CONSUMER = {
    "name": "queue",
    "deadLetterQueue": "dead_letter_queue",
    "maxBatchSize": "max_batch_size",
    "maxBatchTimeout": "max_batch_timeout",
    "maxConcurrency": "max_concurrency",
    "maxRetries": "max_retries",
    "retryDelay": "retry_delay",
    "visibilityTimeoutMs": "visibility_timeout_ms",
}
PRODUCER = {"name": "queue", "deliveryDelay": "delivery_delay", "remote": "remote"}
WORKER = {
    "name": "name",
    "compatibilityDate": "compatibility_date",
    "compatibilityFlags": "compatibility_flags",
}
SETTINGS = {"accountId": "account_id", "complianceRegion": "compliance_region"}
STORES = {
    "kv": ("kv_namespaces", {"id": "id"}),
    "d1": ("d1_databases", {"id": "database_id", "name": "database_name"}),
    "r2": ("r2_buckets", {"name": "bucket_name"}),
}
"""Bindings of stores by their type: wrangler's list, and its keys."""
WORDS = {
    wrangler: own for table in (CONSUMER, PRODUCER, WORKER, SETTINGS) for own, wrangler in table.items() if own != wrangler
} | {
    "cpu_ms": "cpuMs",
    "main": "entrypoint",
    "binding": "key of env",
}
