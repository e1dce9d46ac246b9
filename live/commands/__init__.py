"""The commands. Each turns its flags into one call, and imports what it needs only when
it runs.
"""
