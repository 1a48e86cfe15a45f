"""A Worker in workerd: the process, its configuration, what its bindings ask for, and when it is quiet."""
