"""Who plays, from lists that no source of games has: ratings, titles, pairings."""
