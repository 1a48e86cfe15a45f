"""(state, command) → events. Everything in here reads and nothing writes, so that a refused command has changed nothing."""
