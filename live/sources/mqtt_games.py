"""All games of an MQTT subscription. No I/O."""

from collections.abc import Generator

from live.messages.from_sources import GameReport
from live.sources.game_identity import Identified, Identity
from live.sources.mqtt_topic import MAX_BYTES, MqttTopic

#: Greatest number of topics remembered, and of finished games remembered after their
#: topic got another game.
MAX_TOPICS = 4096
#: Greatest number of topics without a game listed for people.
MOST_NAMED = 3


class MqttGames:
    """All games of a subscription. Pass each message to :meth:`read_message`, and get
    changed games from :meth:`take_reports`.

    Of several messages of one topic between two calls of :meth:`take_reports`, only the
    last is reported. Memory depends on the number of topics, not on the number of
    messages.
    """

    def __init__(self) -> None:
        self._topics: dict[str, MqttTopic] = {}
        self._past: Identified = {}
        """Finished games whose topic now has another game."""
        self._news: Identified = {}
        self._gone = False

    def read_message(self, topic: str, payload: bytes) -> Generator[None, None, None]:
        """Process a message in pieces of less than a millisecond; never raises.

        An unusable payload does not change the topic's games. It is described in their
        ``problem`` or, if there are none, by :meth:`describe_problem` and :attr:`note`.
        """
        if len(payload) <= MAX_BYTES and not payload.strip():
            self._forget_topic(topic)
            return
        state = self._topics.get(topic)
        if state is None:
            if len(self._topics) >= MAX_TOPICS:
                return
            state = self._topics[topic] = MqttTopic(topic)
        before = state.games
        yield from state.read_message(payload)
        for identity in before.keys() - state.games.keys():
            self._keep_game(identity, before[identity])
        self._news.update(state.games)

    def take_reports(self) -> tuple[list[GameReport], bool]:
        """Return the games that have changed since the last call, and whether these are
        all present games.
        """
        complete, self._gone = self._gone, False
        news, self._news = self._news, {}
        if complete:
            news = dict(self._past)
            for state in self._topics.values():
                news.update(state.games)
        return list(news.values()), complete

    def describe_problem(self, topic: str) -> str | None:
        """Return the reason why the last payload of a topic could not be used, as text
        for display; None if it could.
        """
        return self._topics[topic].problem if topic in self._topics else None

    @property
    def note(self) -> str:
        """Message for people about topics without a game. Problems of games are
        described in the games themselves.
        """
        unusable = [
            f"topic {topic!r} holds {state.problem}"
            for topic, state in self._topics.items()
            if state.problem is not None and not state.games
        ]
        if len(unusable) > MOST_NAMED:
            rest = f"{len(unusable) - MOST_NAMED} more hold no game"
            unusable[MOST_NAMED:] = [rest]
        return "; ".join(unusable)

    def _forget_topic(self, topic: str) -> None:
        state = self._topics.pop(topic, None)
        if state is None:
            return
        for identity, game in state.games.items():
            self._keep_game(identity, game)
            if game.result == "*":
                self._news.pop(identity, None)
                self._gone = True

    def _keep_game(self, identity: Identity, game: GameReport) -> None:
        """Store a game that its topic no longer has, if it is finished."""
        if game.result != "*" and len(self._past) < MAX_TOPICS:
            self._past[identity] = game
