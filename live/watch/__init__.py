"""What an arbiter should know and what a viewer should hear of. Pure.

Changes of the state and readings of the clock go in, alerts and moments come out: see
:class:`live.watch.alert_desk.AlertDesk`. Each kind of alert about a board is found by
one function; :mod:`live.watch.board_alerts` lists them.
"""
