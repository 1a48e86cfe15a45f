"""What Cloudflare promises: every number, key and price, with its page and day."""
