"""The network of human moves, asked beside the engines."""
