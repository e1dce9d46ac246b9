"""The user interfaces: the terminal app, the web page with its overlays, the
reports.
"""
