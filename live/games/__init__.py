"""Games as immutable values, and the steps that change the stored games into those of a
report. No I/O.
"""
