"""The view of all boards."""
