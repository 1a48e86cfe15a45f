"""What Cloudflare's GraphQL tells of queues, from the emulator's own journal."""
