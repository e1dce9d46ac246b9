"""Connections between the parts of a running service.

:mod:`live.app` starts and stops the parts in order. No other folder imports anything
from here.
"""
