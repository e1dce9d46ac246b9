"""The view of the incident log."""
