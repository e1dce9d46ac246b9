"""Sources: one module each; bytes in, whole-game reports out. Knows no engine and no
rating.
"""
