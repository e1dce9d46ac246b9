"""What people see: the terminal, the page with its overlays, reports."""
