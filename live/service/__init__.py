"""The running service, wired: sources, ledger, engines, journal, alerts and subscribers together.

Part of the composition root, like :mod:`live.app`, which builds these in their order. No room
imports anything from here.
"""
