"""What a configuration costs."""
