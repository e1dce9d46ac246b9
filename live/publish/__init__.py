"""Numbered history, hub, websocket and HTTP server, PGN export."""
