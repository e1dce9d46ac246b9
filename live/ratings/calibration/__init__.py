"""From gains to Elo: learned likelihoods, and the ratings they give. Pure."""
