"""Pairings of the boards, fetched from DGT LiveChess in the hall.

LiveChess answers HTTP requests on the port of its websocket: ``/api/v1.0/tournaments``,
``/tournament/ID`` (with the serial numbers of its boards, in order of tables) and
``/round/ID/N`` (pairings with players, result and whether the game is live). There is
no public description; the paths and fields are those that the PyPI package
``livechess`` 0.1.0 reads.
"""

import logging
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar

import httpx
from msgspec.structs import replace

from live.messages.from_sources import Headers
from live.messages.values import FeedName
from live.process.loop_slices import LoopShare
from live.sources import http_client
from live.sources.cloud_files import CloudPairing, read_cloud_player
from live.sources.foreign_json import (
    ForeignObject,
    describe_non_json,
    describe_unread,
    fill_unread,
    read_json,
)
from live.sources.hall import MAX_BOARDS
from live.sources.hall_games import Seat, Seats
from live.sources.pgn_headers import clean_text
from live.sources.retry import FeedTrouble

log = logging.getLogger(__name__)
#: Greatest size of an answer, bytes; a round of :data:`MAX_BOARDS` pairings takes less.
MAX_BYTES = 1 << 19
#: Limits on one fetch: tournaments, rounds per tournament, and messages for people.
MAX_TOURNAMENTS, MAX_ROUNDS, MAX_NOTES = 4, 30, 5
#: Number of pairings processed at once; each takes 50 µs.
SEATS_A_PIECE = 64


class _Tournament(ForeignObject):
    """A tournament. In the list of tournaments only ``uuid`` is set."""

    uuid: str = ""
    name: str | None = None
    rounds: int | None = None
    eboards: tuple[object, ...] | None = None
    """Serial numbers in order of tables. An unreadable number affects only its own
    table.
    """


class _Pairing(CloudPairing):
    nr: int = 0


class _Round(ForeignObject):
    nr: int | None = None
    pairings: tuple[_Pairing, ...] | None = None


T = TypeVar("T")


class Pairings:
    """Fetches the pairings of one LiveChess. If an answer is missing or cannot be read,
    the previous one is kept: an unreadable round is not a removed round.
    """

    def __init__(self, feed: FeedName, url: str) -> None:
        """Create the reader; ``url`` is the address of LiveChess's websocket."""
        self._feed = feed
        self._base = f"http{url.removeprefix('ws')}".rstrip("/")
        self._answers: dict[str, Any] = {}
        """Answers of the last completed fetch, by path."""
        self.is_complete = False
        """Whether every tournament and round listed in the last completed fetch has
        been read at least once.
        """
        self._notes: list[str] = []
        self.unread: dict[str, dict[str, str]] = {}
        """Unreadable parts of pairings in the last fetch, by serial number of the
        board.
        """

    @property
    def note(self) -> str:
        """Message for people about parts that could not be read in the last fetch,
        except the pairings of known boards (:attr:`unread`).
        """
        return "; ".join(self._notes[:MAX_NOTES])

    async def fetch_pairings(
        self, client: httpx.AsyncClient, share: LoopShare
    ) -> Seats | None:
        """Return all pairings by board, rounds in order; None if LiveChess has never
        sent a list of tournaments.
        """
        # A fetch that is cancelled must not lose the answers of earlier ones.
        before = self._answers
        answers: dict[str, Any] = {}
        self._notes = []
        self.unread = {}

        async def fetch_json(path: str, kind: type[T]) -> T | None:
            answer = None
            try:
                url = f"{self._base}/{path}"
                answer = await http_client.fetch_body(
                    client, self._feed, url, max_bytes=MAX_BYTES
                )
            except FeedTrouble as error:
                log.debug("%s: %s: %s", self._feed, path, error)
            contents = None if answer is None else read_json(answer.body, kind)
            if answer is not None and contents is None:
                self._notes.append(f"{path} is {describe_non_json(answer.body)}")
            return contents

        listed: tuple[_Tournament, ...] | None = await fetch_json(
            "tournaments", tuple[_Tournament, ...]
        )
        listed = _merge_lists(
            listed, before.get("tournaments"), MAX_TOURNAMENTS, _keep_listed
        )
        if listed is None:
            return None
        answers["tournaments"] = listed
        is_complete = True
        seats: dict[str, dict[tuple[str, int], Seat]] = {}
        for entry in listed:
            path = f"tournament/{entry.uuid}"
            answer = await fetch_json(path, _Tournament)
            tournament = _merge_tournament(answer, before.get(path))
            if answer is None and path not in before:
                is_complete = False
            else:
                answers[path] = tournament
            self._note_unread(path, tournament.unread)
            self._note_serials(path, tournament)
            for number in range(min(tournament.rounds or 0, MAX_ROUNDS)):
                path = f"round/{entry.uuid}/{number}"
                round_answer = await fetch_json(path, _Round)
                round_ = _merge_round(round_answer, before.get(path))
                if round_answer is None and path not in before:
                    is_complete = False
                else:
                    answers[path] = round_
                self._note_unread(path, round_.unread)
                round_number = number + 1 if round_.nr is None else round_.nr
                for serial, seat in await share.run(
                    self._read_seats(tournament, round_number, round_)
                ):
                    seats.setdefault(serial, {})[entry.uuid, number] = seat
        self._answers = answers
        self.is_complete = is_complete
        return {serial: tuple(rounds.values()) for serial, rounds in seats.items()}

    def _read_seats(
        self, tournament: _Tournament, number: int, round_: _Round
    ) -> Generator[None, None, list[tuple[str, Seat]]]:
        """Return the pairings of a round, each with the serial number of its board.
        Yields between pieces of work.
        """
        serials = dict(enumerate(map(_read_serial, tournament.eboards or ()), start=1))
        seats = []
        for place, pairing in enumerate(round_.pairings or ()):
            if place % SEATS_A_PIECE == 0:
                yield
            serial = serials.get(pairing.nr)
            if not serial:
                self._note_unread(f"a pairing of round {number}", pairing.unread)
                continue
            if pairing.unread:
                self.unread[serial] = pairing.unread
            if (pairing.white or pairing.black) and _is_result_known(pairing):
                seats.append((serial, _create_seat(tournament.name, number, pairing)))
        return seats

    def _note_serials(self, path: str, tournament: _Tournament) -> None:
        for table, serial in enumerate(tournament.eboards or (), start=1):
            if serial is not None and _read_serial(serial) is None:
                self._notes.append(
                    f"{clean_text(path, 80)}: the board of table {table} cannot be read"
                )

    def _note_unread(self, part: str, unread: Mapping[str, str]) -> None:
        if unread:
            self._notes.append(f"{clean_text(part, 80)}: {describe_unread(unread)}")


def _merge_lists(
    now: tuple[T, ...] | None,
    before: tuple[T, ...] | None,
    limit: int,
    merge: Callable[[T, T], T],
) -> tuple[T, ...] | None:
    """Return the first ``limit`` entries of a list, each merged with the earlier entry
    at the same position; if there is no new list, the earlier one.
    """
    if now is None:
        return before
    earlier = before or ()
    return *map(merge, now[:limit], earlier), *now[len(earlier) : limit]


def _keep_listed(now: _Tournament, before: _Tournament) -> _Tournament:
    return before if now.unread else now


def _merge_tournament(
    now: _Tournament | None, before: _Tournament | None
) -> _Tournament:
    before = before or _Tournament()
    if now is None:
        return before
    now = fill_unread(now, before, "name")
    return replace(
        now,
        rounds=before.rounds if now.rounds is None else now.rounds,
        eboards=_merge_lists(now.eboards, before.eboards, MAX_BOARDS, _merge_serial),
    )


def _merge_serial(now: object, before: object) -> object:
    is_odd = now is not None and _read_serial(now) is None
    return before if is_odd else now


def _read_serial(value: object) -> str | None:
    """Return the serial number of a board; None if it is missing or unreadable."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return clean_text(value, 40) or None if isinstance(value, str) else None


def _merge_round(now: _Round | None, before: _Round | None) -> _Round:
    before = before or _Round()
    if now is None:
        return before
    now = fill_unread(now, before, "nr")
    pairings = _merge_lists(now.pairings, before.pairings, MAX_BOARDS, _merge_pairing)
    return replace(now, pairings=pairings)


def _merge_pairing(now: _Pairing, before: _Pairing) -> _Pairing:
    if "" in now.unread:
        return replace(before, unread=now.unread)
    filled = fill_unread(now, before, "nr", "white", "black")
    if (filled.nr, filled.white, filled.black) != (
        before.nr,
        before.white,
        before.black,
    ):
        # The players have changed, so the earlier result is not theirs.
        return filled
    return fill_unread(filled, before, "result", "live")


def _is_result_known(pairing: _Pairing) -> bool:
    """Return whether the result is known. An unreadable result does not withdraw the
    earlier one.
    """
    return pairing.result is not None or "result" not in pairing.unread


def _create_seat(event: str | None, number: int, pairing: _Pairing) -> Seat:
    headers = Headers(
        read_cloud_player(pairing.white),
        read_cloud_player(pairing.black),
        event=clean_text(event or "", 200),
        round=f"{number}.{pairing.nr}",
        board=pairing.nr,
    )
    result = pairing.result or "*"
    return Seat(headers, result, bool(pairing.live) or result != "*")
