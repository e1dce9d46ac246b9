"""Computation of all figures, with one paper or method per module.

The functions are pure, with one exception: :mod:`live.ratings.learned_files` reads
learned values from files. None of them uses a network, a clock or asyncio.
"""
