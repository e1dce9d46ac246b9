"""One engine process: its start, its UCI conversation, its time-outs, its end."""
