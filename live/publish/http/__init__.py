"""HTTP: connections, routes, static files."""
