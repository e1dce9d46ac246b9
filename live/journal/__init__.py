"""The journal: a file with everything an event has received from its sources and
computed.
"""
