"""Numbered streams of messages, one for each filter, and who reads them."""
