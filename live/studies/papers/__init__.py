"""What the source papers print, beside what their own games give here.

Printed numbers are data (``*.json``), with the page they stand on. A measure makes the
same figures from the searched games of a corpus; a comparison holds both.
"""
