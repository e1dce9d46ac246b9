"""The web server and all data that it sends: streams, websockets, HTTP, PGN export.

:class:`live.server.server.Publisher` does the input and output. All decisions (who is
allowed to see what, numbering, coalescing, framing, export) are in pure, synchronous
code.

A change reaches two audiences (:mod:`live.server.audience`). Each has a state that it
is allowed to know, and numbered streams::

    arbiters   live state
    public     PublicView: waits in the delay line, is redacted and renamed
                   │
               StreamHub: coalesced, numbered and encoded once for each filter
                   │
               Audience: framed once, written to all subscribers of the filter
"""
