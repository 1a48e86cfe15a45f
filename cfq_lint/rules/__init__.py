"""Every rule: a module each, named after the rule's code and name."""
