"""The web server and all data that it sends: streams, websockets, HTTP, PGN export.

:class:`live.server.server.Publisher` does the input and output. All decisions (who is
allowed to see what, numbering, coalescing, framing, export) are in pure, synchronous
code.
"""
