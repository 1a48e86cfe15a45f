"""What a Worker sends to queues."""
