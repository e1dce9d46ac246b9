"""The methods of Regan and Haworth 2011: choices among several lines. Pure."""
