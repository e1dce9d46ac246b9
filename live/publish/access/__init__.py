"""Who may connect, how often, and what they may see."""
