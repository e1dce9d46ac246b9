"""Alerts for arbiters and moments for viewers. Pure.

The input is changes of the event's state and the current time; the output is alerts
(:class:`live.watch.alert_desk.AlertDesk`) and moments
(:class:`live.watch.story_desk.StoryDesk`). One function finds each kind of alert about
a board; :mod:`live.watch.board_alerts` lists these functions.
"""
