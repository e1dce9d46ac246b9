"""Snapshots as JSON, with a cache of finished games. Pure."""

import zlib
from io import BytesIO

from live.messages.figures import GameDetail
from live.messages.to_clients import Message
from live.messages.values import GameId
from live.server import wire
from live.server.brief import encode_brief
from live.server.event_reader import EventReader
from live.server.filtered_reader import snapshot_without_games
from live.server.stream_filter import StreamFilter
from live.server.visibility import Visibility, redact

MessageForm = tuple[Visibility, bool]
"""How a message is encoded: its visibility, and True if it is brief."""


def find_form(selected: StreamFilter) -> MessageForm:
    """Return the form in which messages for a filter are encoded."""
    return selected.visibility, selected.brief


def encode_in_form(value: Message | GameDetail, form: MessageForm) -> bytes:
    """Return a message or game as JSON without a number, redacted for a form."""
    visibility, is_brief = form
    redacted = redact(value, visibility)
    return encode_brief(redacted) if is_brief else wire.encode(redacted)


class SnapshotEncoder:
    """Encodes snapshots of a state.

    The JSON of a finished game is compressed and cached when it is used a second time.
    """

    def __init__(self, state: EventReader) -> None:
        self._state = state
        self._finished: dict[GameId, dict[MessageForm, bytes]] = {}

    def forget(self, game: GameId) -> None:
        """Delete the cached JSON of a game, since the game has changed."""
        self._finished.pop(game, None)

    def encode(self, seq: int, selected: StreamFilter) -> bytes:
        """Return a snapshot with its number as JSON.

        Games are encoded one at a time. All game objects at once would need twice the
        memory of the JSON.
        """
        form = find_form(selected)
        ids, rest = snapshot_without_games(self._state, selected)
        body = encode_brief(rest) if selected.brief else wire.encode(rest)
        head, field, tail = wire.number(body, seq).partition(b'"games":[')
        whole = BytesIO()
        whole.write(head + field)
        separator = b""
        for id in ids:
            if game := self._encode_game(id, form):
                whole.write(separator)
                whole.write(game)
                separator = b","
        whole.write(tail)
        return whole.getvalue()

    def _encode_game(self, id: GameId, form: MessageForm) -> bytes:
        packed_forms = self._finished.setdefault(id, {})
        if packed := packed_forms.get(form):
            return zlib.decompress(packed)
        game = self._state.game(id)
        if game is None:
            return b""
        body = encode_in_form(game, form)
        if not game.running:
            packed_forms[form] = zlib.compress(body, 1) if form in packed_forms else b""
        return body
