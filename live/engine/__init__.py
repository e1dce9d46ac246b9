"""Engine processes that stay alive, and the queue before them. Knows no feed and no
rating.
"""
