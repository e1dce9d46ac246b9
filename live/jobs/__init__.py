"""What commands do besides following: finished games, journals, checks, other machines.

Each module does the work of one command, or of a few that belong together, and wires
the rooms that it needs. No room imports anything from here.
"""
