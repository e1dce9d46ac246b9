"""The immutable game, and the plan that brings what is held to what is reported. No
I/O.
"""
