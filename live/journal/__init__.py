"""The journal: a file with everything that an event received from its sources and
computed.
"""
