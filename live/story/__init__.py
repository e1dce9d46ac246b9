"""What of the games is worth telling, from figures that hold. Pure."""
