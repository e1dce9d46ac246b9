"""How the rooms of a running service call each other.

:mod:`live.app` starts and stops them in order. No room imports anything from here.
"""
