"""Collects the consequences of one report or answer."""

from collections.abc import Sequence

from live.engine.requests import RequestId, SearchDropped, SearchRequest
from live.event.game_change import EventChange
from live.human.question import HumanRequest


class Outbox:
    """Collects the consequences of one report or answer, for all games of the event.

    They are collected by kind, and committed together in the order in which they must
    be carried out. If the work on a game fails, they are rolled back.
    """

    def __init__(self) -> None:
        self.dropped: list[RequestId] = []
        """Requests whose results are no longer needed."""
        self.requests: list[SearchRequest] = []
        self.changes: list[EventChange] = []
        """Changes of games and messages to subscribers."""
        self.questions: list[HumanRequest] = []
        """Questions to the neural network of human moves."""
        self._committed: list[EventChange] = []

    def roll_back(self) -> None:
        """Drop everything that is not committed."""
        self.dropped = []
        self.requests = []
        self.changes = []
        self.questions = []

    def commit(self) -> None:
        """Commit everything collected since the last call.

        Cancelled searches come first, so that a repeated request is not cancelled.
        """
        self._committed += map(SearchDropped, self.dropped)
        self._committed += self.requests
        self._committed += self.changes
        self._committed += self.questions
        self.roll_back()

    def take(self) -> Sequence[EventChange]:
        """Return everything that was committed since the last call, in order."""
        committed, self._committed = self._committed, []
        return committed
