"""The view that rules use: a Worker with its environments, producers and consumers, each value with its place."""
