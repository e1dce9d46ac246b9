"""Computation of all figures, with one paper or method per module.

All functions are pure: they use no files, no network, no clock and no asyncio.
"""
