"""The live account, read through Cloudflare's REST API: with GET alone, within the limits, the token never shown."""
