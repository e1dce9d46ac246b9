"""Everything that leaves the program over the network: numbered streams, websockets,
HTTP, PGN export. :class:`live.server.server.Publisher` is the shell. All that decides
(who sees what, numbering, coalescing, framing, export) is pure and synchronous.
"""
