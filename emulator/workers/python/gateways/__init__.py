"""Applications behind the web server interfaces of Python: ASGI and WSGI."""
