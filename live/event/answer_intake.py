"""Applies answers of the engines and of the network of human moves to the event. Pure.

Many boards can wait for the same answer, and the standings depend on every player. So
each answer is applied at once, but the standings are updated only once for all answers
of one turn of the event loop.
"""

from collections.abc import Callable, Hashable

from live.engine.requests import RequestId
from live.engine.search import Search, SearchFailure, SearchProgress, SearchResult
from live.event.bus import TakeChanges
from live.event.event import Event
from live.human.question import HumanAnswer, HumanRequest
from live.messages.values import GameId


class AnswerIntake:
    """Listener for results of the event's searches and human questions.

    Args:
        event: the event that sent the requests.
        publish: receives the changes.
        call_soon: calls a function in the next turn of the event loop.
        on_answer: called after every answer and after every update of the standings,
            because an answer that changes nothing can be the last open one.
        on_human_shares: called with a game when the question about human moves in its
            newest position is settled, with or without an answer.
    """

    def __init__(
        self,
        event: Event,
        publish: TakeChanges,
        call_soon: Callable[[Callable[[], None]], object],
        on_answer: Callable[[], None],
        on_human_shares: Callable[[GameId], None],
    ) -> None:
        self._event = event
        self._publish = publish
        self._call_soon = call_soon
        self._on_answer = on_answer
        self._on_human_shares = on_human_shares
        self._is_rating_due = False

    def on_result(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """Apply the result of a search."""
        assert isinstance(owner, RequestId)
        self._publish(self._event.apply_result(owner, result, rate=False))
        self._schedule_rating()
        self._on_answer()

    def on_progress(self, owner: Hashable, progress: SearchProgress) -> None:
        """Show the depth that a search has reached so far."""
        assert isinstance(owner, RequestId)
        self._publish(self._event.apply_progress(owner, progress))

    def on_human_answer(
        self, request: HumanRequest, answer: HumanAnswer | None
    ) -> None:
        """Apply an answer about human moves; None means that no answer will come."""
        self._publish(self._event.apply_answer(request, answer, rate=False))
        self._schedule_rating()
        if request.newest:
            self._on_human_shares(request.game)
        self._on_answer()

    def _schedule_rating(self) -> None:
        if not self._is_rating_due and self._event.has_unrated:
            self._is_rating_due = True
            self._call_soon(self._rate_and_publish)

    def _rate_and_publish(self) -> None:
        self._is_rating_due = False
        self._publish(self._event.rate())
        self._on_answer()
