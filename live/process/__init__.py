"""Interaction of a process with the operating system: signals, limits, clocks,
supervision.
"""
