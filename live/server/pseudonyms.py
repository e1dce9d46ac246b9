"""Pseudonyms for games and sources, so that the public cannot find undelayed games.

The id of a game is often the last part of its address at its source, where anyone can
watch it without a delay. So while the public view is delayed, the public gets a
different id for each game: a keyed hash of the real id. All addresses and real ids are
removed from the public's data.

Everyone except arbiters always sees pseudonyms of sources. A guessed path or address
cannot be confirmed, since the hash is keyed with a secret. The secret is stored with
the journal, so names and links stay the same after a restart. Pure.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from typing import TypeVar, cast

import msgspec
from msgspec.structs import replace

from live.games.addresses import strip_addresses
from live.messages.figures import GameView, PlayerView
from live.messages.from_sources import Player
from live.messages.health import GAME_PART, FeedHealth
from live.messages.moments import Moment, MomentText
from live.messages.to_clients import (
    ClockMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MomentMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import FeedName, GameId

Redactable = TypeVar("Redactable", bound=msgspec.Struct)
#: Length of the secret, bytes.
SECRET_BYTES = 16
#: Names of sources that are not addresses.
_NO_ADDRESS = frozenset({"demo", ""})
_NEUTRAL = re.compile(r"source(?: [0-9a-f]{5})?")
#: Minimum length of a part of an address that is removed from texts, characters.
#: Shorter parts, such as ``board3`` or ``round-7``, are ordinary words.
_TELLING_CHARS = 8
_GAME_TEXTS = (
    "event",
    "round",
    "site",
    "date",
    "time_control",
    "variant",
    "eco",
    "opening",
    "termination",
    "problem",
    "dispute",
    "note",
)
_PLAYER_TEXTS = ("name", "title", "federation", "team")


def neutralise_sources(
    game: GameView, name_of: Callable[[FeedName], str]
) -> dict[str, object]:
    """Return the fields of a game that name its sources, with the names replaced.

    ``name_of`` returns the new name of a source.
    """
    feeds = (game.feed, *game.also)
    names = {feed: _neutralise(feed, name_of) for feed in feeds}
    longest_first = sorted(filter(None, names), key=len, reverse=True)

    def renamed(text: str) -> str:
        for feed in longest_first:
            text = text.replace(feed, names[feed])
        return text

    return {
        "feed": names[game.feed],
        "also": tuple(names[feed] for feed in game.also),
        "site": strip_addresses(game.site),
        "problem": None if game.problem is None else renamed(game.problem),
        "dispute": renamed(game.dispute),
    }


def neutralise_health(
    health: FeedHealth, name_of: Callable[[FeedName], str]
) -> FeedHealth:
    """Return the health of a source or a part, without names of files and hosts.

    The details are removed; ``name_of`` returns the new name of a source.
    """
    if not health.part:
        name = _neutralise(health.feed, name_of)
    elif health.feed.startswith("broker "):
        name = "broker"
    else:
        name = health.feed
    return replace(health, feed=name, detail="")


def _neutralise(feed: FeedName, name_of: Callable[[FeedName], str]) -> str:
    """Return the new name of a source; a name that is not an address is kept."""
    return feed if feed in _NO_ADDRESS or _NEUTRAL.fullmatch(feed) else name_of(feed)


class Pseudonyms:
    """Pseudonyms for the public, computed with one secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def source_name(self, feed: FeedName) -> str:
        """Return the pseudonym of a source: ``source 3f2a1``."""
        return f"source {self._digest('source', feed).hex()[:5]}"

    def game_id(self, id: GameId) -> GameId:
        """Return the pseudonym of a game's id: 16 characters (80 bits)."""
        return base64.b32encode(self._digest("game", id)).decode().lower()

    def _digest(self, *parts: str) -> bytes:
        words = "\x1f".join(parts).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(words, digest_size=10, key=self._secret).digest()

    def name_sources(self, value: Redactable) -> Redactable:
        """Return a value or message with pseudonyms of sources.

        Everyone except arbiters gets values in this form.
        """
        match value:
            case GameView():
                renamed: msgspec.Struct = replace(
                    value, **neutralise_sources(value, self.source_name)
                )
            case GameMessage(game=view):
                renamed = GameMessage(self.name_sources(view))
            case FeedHealth():
                renamed = neutralise_health(value, self.source_name)
            case HealthMessage(feeds=feeds):
                renamed = replace(value, feeds=tuple(map(self.name_sources, feeds)))
            case _:
                return value
        return cast(Redactable, renamed)

    def redact(self, value: Redactable) -> Redactable:
        """Return a value or message without real ids and addresses.

        The delayed public gets values in this form.
        """
        match value:
            case GameView():
                redacted: msgspec.Struct = self._redact_game(value)
            case GameMessage(game=view):
                redacted = GameMessage(self._redact_game(view))
            case (
                GoneMessage()
                | MoveMessage()
                | ClockMessage()
                | ScoreMessage()
                | PointMessage()
            ):
                redacted = replace(value, game=self.game_id(value.game))
            case Moment():
                redacted = self._redact_moment(value)
            case MomentMessage(game=game, moment=moment):
                moment = self._redact_moment(moment)
                redacted = replace(value, game=self.game_id(game), moment=moment)
            case PlayerView(name=name):
                redacted = replace(value, name=strip_addresses(name))
            case StandingMessage(player=player):
                redacted = StandingMessage(self.redact(player))
            case FeedHealth():
                redacted = self._redact_health(value)
            case HealthMessage(feeds=feeds):
                redacted = replace(value, feeds=tuple(map(self._redact_health, feeds)))
            case _:
                return value
        return cast(Redactable, redacted)

    def _redact_game(self, game: GameView) -> GameView:
        telling_words = _telling_words(game.id, game.url)
        renamed = self.name_sources(game)
        fields: dict[str, object] = {"id": self.game_id(game.id), "url": ""}
        for name in _GAME_TEXTS:
            if text := getattr(renamed, name):
                fields[name] = _redact_text(text, telling_words)
        for color in ("white", "black"):
            fields[color] = _redact_player(getattr(game, color), telling_words)
        return replace(renamed, **fields)

    def _redact_health(self, health: FeedHealth) -> FeedHealth:
        renamed = self.name_sources(health)
        if not health.part or not health.feed.startswith(GAME_PART):
            return renamed
        # The part is about a game that failed, and its name contains the game's id.
        id = health.feed.removeprefix(GAME_PART)
        return replace(renamed, feed=GAME_PART + self.game_id(id))

    def _redact_moment(self, moment: Moment) -> Moment:
        real = moment.game
        game = self.game_id(real)
        telling_words = _telling_words(real)
        sentences = (getattr(moment.text, name) for name in _LANGUAGES)
        text = MomentText(
            *(_redact_text(sentence, telling_words) for sentence in sentences)
        )
        id = game + moment.id.removeprefix(real)
        return replace(moment, id=id, game=game, text=text)


_LANGUAGES = MomentText.__struct_fields__


def _telling_words(id: GameId, url: str = "") -> tuple[str, ...]:
    """Return words by which a game can be found at its source.

    They are its id and the last part of its address, unless these are short.
    """
    last = re.split(r"[/?#=&]+", url.rstrip("/"))[-1]
    return tuple(word for word in (id, last) if len(word) >= _TELLING_CHARS)


def _redact_player(player: Player, telling_words: tuple[str, ...]) -> Player:
    fields = {
        name: _redact_text(text, telling_words)
        for name in _PLAYER_TEXTS
        if (text := getattr(player, name))
    }
    return replace(player, **fields)


def _redact_text(text: str, telling_words: tuple[str, ...]) -> str:
    redacted = strip_addresses(text)
    for word in telling_words:
        if word.casefold() in redacted.casefold():
            redacted = re.sub(
                re.escape(word), "", redacted, flags=re.IGNORECASE
            ).strip()
    return redacted
