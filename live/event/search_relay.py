"""Passes the event's requests to the engines. Pure."""

from collections.abc import Callable, Iterable, Sequence

from live.engine.search_queue import SearchDesk
from live.event.game_change import EventChange, select_messages
from live.event.requests import SearchDropped, SearchRequest, build_priority
from live.messages.to_clients import Change


class SearchRelay:
    """Submits and cancels the searches that changes of the event require.

    Args:
        desk: accepts searches.
        end_boards: receives the messages; cancels searches ahead of the players'
            moves in games that these messages end.
    """

    def __init__(
        self, desk: SearchDesk, end_boards: Callable[[Iterable[Change]], None]
    ) -> None:
        self._desk = desk
        self._end_boards = end_boards

    def follow(self, changes: Sequence[EventChange]) -> None:
        """Submit and cancel searches as these changes require, in order.

        The boards that the messages end are ended after all requests.
        """
        for change in changes:
            match change:
                case SearchDropped(id=request_id):
                    self._desk.drop(request_id)
                case SearchRequest(id=request_id, search=search, urgency=urgency):
                    priority = build_priority(request_id, urgency)
                    self._desk.submit(search, request_id, priority)
        self._end_boards(select_messages(changes))
