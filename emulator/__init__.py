"""Cloudflare Queues on a clock that a test can move."""
