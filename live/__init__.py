"""live-rate: perceived chess ratings, move by move, from live game feeds.

Data flows one way through the folders of this package::

    sources → games → engine → ratings → event → watch → journal → server → screens

``tests/test_house.py`` checks the direction. Only :mod:`live.app`, :mod:`live.studies`
and the command line connect folders to each other.
"""

__version__ = "0.4.0"
