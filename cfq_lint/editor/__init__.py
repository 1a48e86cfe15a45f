"""The language server, and what it answers from: the project as it stands in the editor."""
