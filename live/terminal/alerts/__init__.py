"""The view of alerts."""
