"""The arbiter's terminal app, and the functions that draw its panels as text."""
