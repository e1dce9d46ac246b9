"""Figures, the methods of each paper together: pure, no I/O, no clock, no asyncio."""
