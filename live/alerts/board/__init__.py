"""What is remembered of one board: its moves, its clocks, its position. Pure."""
