"""What the next moves will need, searched while players think."""
