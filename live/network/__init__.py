"""What several rooms need to reach the network: when to try again, and the MQTT client."""
