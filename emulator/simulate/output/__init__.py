"""What a run says: plain values, text, a page, plots, and their schema."""
