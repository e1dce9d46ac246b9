"""What leaves the house: numbered history, hub, websocket and HTTP server, PGN export.

:class:`live.server.server.Publisher` is the shell; everything it decides with (who sees
what, numbering, coalescing, framing, export) is pure and synchronous.
"""
