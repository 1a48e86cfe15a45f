"""A Worker's source as steps: read, never run. What a consumer does with its messages, and what a producer sends.

Two readers (Python with `ast`, JavaScript and TypeScript with tree-sitter) make the same few steps of it, and
what is asked of them is asked once. Only what is certain is followed: local functions and modules, and names bound once.
"""
