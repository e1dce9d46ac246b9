"""Computation of all figures, one paper or method per module: pure, no I/O, no clock,
no asyncio.
"""
