"""One module for each kind of alert. Pure."""
