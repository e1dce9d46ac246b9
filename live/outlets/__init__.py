"""What is made for other programs of a production: notices, and scenes of OBS."""
