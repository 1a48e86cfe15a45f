"""`cloudflare.config.ts`: read without running it, as the tree that a wrangler file of the same meaning would give."""
