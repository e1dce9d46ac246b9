"""The engine in use, measured on the reference positions, and what is kept of it. Part of the
composition root.
"""
