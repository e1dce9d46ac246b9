"""How strong players are seen to be: beside what players of each Elo lose in such positions."""
