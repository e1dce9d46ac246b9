"""live-rate: perceived chess ratings, move by move, from live game feeds.

Data flows one way through the folders of this package::

    feeds → games → engine → ratings → ledger → store → publish → terminal, web, report

``tests/test_house.py`` holds the direction; only :mod:`live.app` wires the
shells of different folders together.
"""

__version__ = "0.4.0"
