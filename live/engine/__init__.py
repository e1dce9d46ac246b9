"""Engine processes that stay alive, and the queue of searches for them. Independent of
feeds and ratings.
"""
