"""What the other commands do, wired: finished games, journals, other machines,
rehearsals.

Part of the composition root: each module does the work of one command or of a few that
belong together. No room imports anything from here.
"""
