"""The methods beside the perceived rating, for one game and over the event. Pure."""
