"""The live account, read through Cloudflare's API: with GET and queries alone, within the limits, the token never shown."""
