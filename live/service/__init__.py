"""The parts of a running service, which wire rooms together: engines, journal, alerts,
output.

:mod:`live.app` starts and stops them in order. No room imports anything from here.
"""
