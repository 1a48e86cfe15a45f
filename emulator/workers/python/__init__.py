"""A Python Worker's own source, run in CPython: stand-in modules, bindings, loading. `Emulator.worker()` is the way in.

What Workers import (`workers`, `js`, `pyodide.ffi`, `asgi`) exists for the Worker's own modules and for nobody else.
https://developers.cloudflare.com/workers/languages/python/.
"""
