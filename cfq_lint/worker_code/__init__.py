"""A Worker's source: read, never run. What a consumer does with its messages, and what a producer sends.

Two grammars (Python with `ast`, JavaScript and TypeScript with tree-sitter) make the same few nodes of it, and what is asked of
them is asked once. Only what is certain is followed: functions and modules of the Worker's own, and names bound once.
"""
