"""Pairings of the boards, fetched from DGT LiveChess in the hall.

LiveChess answers HTTP requests on the port of its websocket: ``/api/v1.0/tournaments``,
``/tournament/ID`` (with the serial numbers of its boards, in order of tables) and
``/round/ID/N`` (pairings with players, result and whether the game is live). There is
no public description; the paths and fields are those that the PyPI package
``livechess`` 0.1.0 reads.
"""

import logging
from collections import defaultdict
from collections.abc import Generator, Mapping
from typing import Any, TypeVar, cast

import httpx

from live.messages.from_sources import Headers
from live.messages.values import FeedName
from live.process.loop_slices import LoopShare
from live.sources import http_client
from live.sources.cloud_files import CloudPairing, read_cloud_player
from live.sources.foreign_json import (
    ForeignObject,
    describe_no_json,
    describe_unread,
    fill_entries,
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
    """Fetches the pairings of one LiveChess. What is missing or cannot be read in an
    answer is kept from the one before: an unreadable round is not a removed round.
    """

    def __init__(self, feed: FeedName, url: str) -> None:
        """Create the reader; ``url`` is the address of LiveChess's websocket."""
        self._feed = feed
        self._base = f"http{url.removeprefix('ws')}".rstrip("/")
        self._answers: dict[str, Any] = {}
        """Answers of the last completed fetch, by path; None for an answer that was
        never read.
        """
        self._notes: list[str] = []
        self.unread: dict[str, dict[str, str]] = {}
        """Unreadable parts of pairings in the last fetch, by serial number of the
        board.
        """

    @property
    def is_complete(self) -> bool:
        """Whether every tournament and round listed in the last completed fetch has
        been read at least once.
        """
        return all(answer is not None for answer in self._answers.values())

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
        answers: dict[str, Any] = {}
        self._notes = []
        self.unread = {}

        async def fetch_json(path: str, kind: type[T]) -> T | None:
            answers[path] = contents = await self._fetch_json(client, path, kind)
            return contents

        listed: tuple[_Tournament, ...] | None = await fetch_json(
            "tournaments", tuple[_Tournament, ...]
        )
        if listed is None:
            return None
        seats: defaultdict[str, dict[tuple[str, int], Seat]] = defaultdict(dict)
        for entry in listed[:MAX_TOURNAMENTS]:
            tournament = await fetch_json(f"tournament/{entry.uuid}", _Tournament)
            if tournament is None:
                continue
            for number in range(min(tournament.rounds or 0, MAX_ROUNDS)):
                round_ = await fetch_json(f"round/{entry.uuid}/{number}", _Round)
                if round_ is None:
                    continue
                for serial, seat in await share.run(
                    self._read_seats(tournament, number, round_)
                ):
                    seats[serial][entry.uuid, number] = seat
        self._answers = answers
        return {serial: tuple(rounds.values()) for serial, rounds in seats.items()}

    async def _fetch_json(
        self, client: httpx.AsyncClient, path: str, kind: type[T]
    ) -> T | None:
        """Return a file filled from its last contents; these alone if there is no
        readable answer.
        """
        before = self._answers.get(path)
        url = f"{self._base}/{path}"
        try:
            answer = await http_client.fetch_body(
                client, self._feed, url, max_bytes=MAX_BYTES
            )
        except FeedTrouble as error:
            log.debug("%s: %s: %s", self._feed, path, error)
            answer = None
        if answer is None:
            return before
        contents: Any = read_json(answer.body, kind)
        if contents is None:
            self._notes.append(f"{path} is {describe_no_json(answer.body)}")
            return before
        if isinstance(contents, tuple):
            return cast(T, fill_entries(contents, before))
        self._note_unread(path, contents.unread)
        return cast(T, contents.fill_unread(before))

    def _read_seats(
        self, tournament: _Tournament, number: int, round_: _Round
    ) -> Generator[None, None, list[tuple[str, Seat]]]:
        """Return the pairings of a round, each with the serial number of its board.
        Yields between pieces of work.
        """
        round_number = number + 1 if round_.nr is None else round_.nr
        serials = self._read_serials(tournament)
        seats = []
        for place, pairing in enumerate((round_.pairings or ())[:MAX_BOARDS]):
            if place % SEATS_A_PIECE == 0:
                yield
            serial = serials.get(pairing.nr)
            if not serial:
                self._note_unread(f"a pairing of round {round_number}", pairing.unread)
                continue
            if pairing.unread:
                self.unread[serial] = pairing.unread
            # An unreadable result does not withdraw the earlier one.
            is_known = pairing.result is not None or "result" not in pairing.unread
            if (pairing.white or pairing.black) and is_known:
                seat = _create_seat(tournament.name, round_number, pairing)
                seats.append((serial, seat))
        return seats

    def _read_serials(self, tournament: _Tournament) -> dict[int, str]:
        """Return the serial numbers of the boards that can be read, by table."""
        serials = {}
        boards = (tournament.eboards or ())[:MAX_BOARDS]
        for table, value in enumerate(boards, start=1):
            if serial := _read_serial(value):
                serials[table] = serial
            elif value is not None:
                note = f"the board of table {table} cannot be read"
                self._note(tournament.name or "tournament", note)
        return serials

    def _note_unread(self, part: str, unread: Mapping[str, str]) -> None:
        if unread:
            self._note(part, describe_unread(unread))

    def _note(self, part: str, problem: str) -> None:
        note = f"{clean_text(part, 80)}: {problem}"
        if note not in self._notes:
            self._notes.append(note)


def _read_serial(value: object) -> str:
    """Return the serial number of a board; empty if it is missing or unreadable."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return clean_text(value, 40) if isinstance(value, str) else ""


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
