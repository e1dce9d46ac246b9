"""What leaves the house: numbered history, hub, websocket and HTTP server, PGN export.

:class:`live.publish.server.Publisher` is the shell; everything it decides with (`select`,
`coalesce`, `stream`, `hub`, `wire`, `pgn_export`) is pure and synchronous.
"""
