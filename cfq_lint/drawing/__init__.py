"""What pages and terminal output are made of."""
