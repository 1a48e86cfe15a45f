"""From bytes to operations and back."""
