"""Engine processes that stay alive, and the queue of searches for them. This package
imports neither feeds nor ratings.
"""
