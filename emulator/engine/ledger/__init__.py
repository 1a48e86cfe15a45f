"""What has happened, folded once from the journal: counts, fates, deliveries, traces, states and operations are views on it."""
