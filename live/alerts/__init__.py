"""What an arbiter wants to know, found in what subscribers are sent anyway. Pure.

Changes of the state and readings of the clock go in, alerts come out: see
:class:`live.alerts.alert_desk.AlertDesk`. Each kind of alert is a function from what is remembered
of a board to findings; :mod:`live.alerts.alert_desk` lists them.
"""
