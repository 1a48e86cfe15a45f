"""A Worker's own source on an account: its configuration, its language, its stores."""
