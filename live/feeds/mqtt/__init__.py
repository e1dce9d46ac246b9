"""Games that somebody publishes to an MQTT broker."""
