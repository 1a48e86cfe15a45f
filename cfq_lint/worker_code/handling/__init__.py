"""What a consumer does with its messages."""
