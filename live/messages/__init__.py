"""Immutable values that the packages of live-rate exchange, by direction. Pure."""
