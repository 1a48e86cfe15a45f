"""Where a batch goes."""
