"""Passes the event's requests to the engines. Pure."""

from collections.abc import Callable, Iterable

from live.engine.search_queue import SearchDesk
from live.event.game_change import EventChange, GameChange
from live.event.requests import SearchDropped, SearchRequest, build_priority
from live.human.question import HumanRequest
from live.messages.to_clients import Change


class SearchRelay:
    """Submits and cancels the searches that changes of the event require.

    Args:
        desk: accepts searches.
        end_boards: receives the other changes; cancels searches ahead of the players'
            moves in games that these changes end.
    """

    def __init__(
        self, desk: SearchDesk, end_boards: Callable[[Iterable[Change]], None]
    ) -> None:
        self._desk = desk
        self._end_boards = end_boards

    def follow(self, changes: Iterable[EventChange]) -> None:
        """Submit and cancel searches as these changes require, in order."""
        for change in changes:
            match change:
                case SearchDropped(id=request_id):
                    self._desk.drop(request_id)
                case SearchRequest(id=request_id, search=search, urgency=urgency):
                    priority = build_priority(request_id, urgency)
                    self._desk.submit(search, request_id, priority)
                case GameChange() | HumanRequest():
                    pass
                case _:
                    self._end_boards((change,))
