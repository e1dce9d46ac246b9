"""The state as retained messages at an MQTT broker."""
