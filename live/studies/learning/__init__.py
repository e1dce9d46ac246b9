"""Learning from games of rated players: models of perceived ratings, neural networks of
human moves, and tables by the method of Regan and Haworth. No module of the live
service imports this package.
"""
