"""What has happened, read from the journal."""
