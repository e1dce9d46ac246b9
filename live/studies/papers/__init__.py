"""Numbers printed in the source papers, beside the results of this project for the same
games.

Printed numbers are data (``*.json``), with the page on which each is printed. A measure
computes the same figures from the searched games of a corpus; a comparison contains the
printed and the computed figures.
"""
