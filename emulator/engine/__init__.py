"""The one engine: an account, time, and where batches go."""
