"""What is learned from games of rated players: perceived ratings, networks of human
moves, and tables of Regan and Haworth. Nothing live imports it.
"""
