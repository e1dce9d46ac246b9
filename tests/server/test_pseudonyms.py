"""Under a delay nothing that the public is sent leads to the undelayed game."""

import asyncio
import io
import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import parse_qsl, quote

import msgspec
import pytest
from rich.console import Console
from websockets.asyncio.client import connect

from live.games.addresses import strip_addresses
from live.journal.journal import Journal
from live.messages import figures, health, moments, to_clients
from live.messages.figures import GameView
from live.messages.from_sources import FeedReport, Player
from live.messages.health import FeedHealth
from live.messages.to_clients import Change, GameMessage, MoveMessage
from live.screens.printed_changes import JsonPrinter, LinePrinter
from live.server.analysis import build_analysis
from live.server.filtered_reader import snapshot
from live.server.http_values import HttpRequest
from live.server.limits import ClientLimits
from live.server.pseudonyms import Pseudonyms
from live.server.public_delay import open_pseudonyms
from live.server.public_view import PublicView
from live.server.retained_messages import RetainedMessages
from live.server.routes import ROUTES
from live.server.server import Publisher
from live.server.site_stream import SiteStream
from live.server.static_files import STUDY_TYPES, StaticSite
from live.server.stream_filter import EVERYTHING, StreamFilter
from live.server.visibility import Visibility
from live.settings import ServerConfig
from live.sources.pgn_decoder import PgnReader
from tests.server.serving import bearer, left_in, live, token_file
from tests.server.test_public_view import follower
from tests.server.world import Clock, World
from tests.sources.fakes import until
from tests.watch.games import moment
from tests.watch.replayed_event import Rehearsal

ID = "SECRETgm"
#: Written into every header that the public sees.
ADDRESSES = (
    f"https://lichess.org/{ID}",
    f"lichess.org/{ID}",
    f"HTTP://LICHESS.ORG/{ID}#12",
    f"www.club.example:8080/live?game={ID}",
    f"192.168.1.5:8000/{ID}",
    f"localhost:8000/{ID}.pgn",
    f"[fe80::1]:8000/{ID}",
    # Nobody's address, and still the way to it.
    f"game {ID.lower()}",
    f"lichess。org／{ID}",
    f"lichess.org \\ {ID}",
)
TAGS = (
    "Event",
    "Site",
    "Round",
    "TimeControl",
    "Termination",
    "Opening",
    "ECO",
    "WhiteTitle",
    "BlackTeam",
    "WhiteFed",
    "Annotator",
    "Source",
    "ChapterURL",
    "StudyName",
)
FEED = f"https://club.example/live/{ID}/games.pgn"
DELAY_S = 60.0


def report(plies: int, first: int = 0) -> FeedReport:
    """Two games of one source, one of which has an address in every header, from
    ``first`` on.
    """
    said = itertools.cycle(ADDRESSES[first:] + ADDRESSES[:first])
    moves = ("1. e4", "1... e5", "2. Nf3", "2... Nc6")[:plies]
    line = " ".join(f"{move} {{ [%eval 0.2] }}" for move in moves)
    tags = "".join(f'[{tag} "{next(said)}"]\n' for tag in TAGS)
    text = (
        f'{tags}[GameURL "https://lichess.org/{ID}"]\n'
        f'[White "Ek, Al {ADDRESSES[1]}"]\n[Black "Berg, Bo"]\n\n'
        f'{line} *\n\n[Event "Open"]\n[White "Ek, Al"]\n[Black '
        '"Dal, Ed"]\n\n1. d4 *\n\n'
    )
    games = tuple(PgnReader().read_text(text.encode(), closed=True))
    assert games[0].key == ID and games[0].moves
    return FeedReport(FEED, games)


class Sweep:
    """All bytes that a stranger is sent."""

    def __init__(self, event: Rehearsal, publisher: Publisher) -> None:
        self.on_text: list[bytes] = []
        self._publisher = publisher
        public = publisher.public
        self._broker = RetainedMessages(public, "live")
        self._stream = SiteStream(public, EVERYTHING, epoch="e", clock=Clock())
        self._lines = io.StringIO()
        printer = JsonPrinter(self._note)
        printer.begin(snapshot(public))
        public.listen(printer.show)
        public.listen(LinePrinter(Console(file=self._lines, width=200)).show)
        public.listen(self._broker.mark_changed, self._broker.reset)
        public.listen(self._stream.publish, self._stream.reset)

    def _note(self, *said: object) -> None:
        self.on_text += [str(each).encode("utf-8", "surrogatepass") for each in said]

    async def look(self, names: Iterable[str]) -> None:
        """Ask every route, and take what a broker is sent."""
        paths = {route.path for route in ROUTES}
        for name in names:
            paths |= {
                route.path.format(game=name, export=name, file=name) for route in ROUTES
            }
            paths |= {f"/share?game={name}", f"/api/v3/games?game={name}"}
        for path in sorted(path for path in paths if "{" not in path):
            path, _, query = path.partition("?")
            request = HttpRequest(
                "GET", path, tuple(parse_qsl(query)), {"host": "127.0.0.1"}
            )
            answer = await self._publisher.clients.answer(request)
            self._note(answer.status, answer.headers, answer.body)
        for topic, payload in self._broker.take(1000).items():
            self._note(topic, payload)
        for each in self._stream.take():
            self._note(each.topic, each.payload)
        self._note(self._lines.getvalue())


async def read(url: str) -> list[bytes]:
    """All that a websocket is sent."""
    async with connect(url) as reader:
        return (await left_in(reader))[0]


def serve(event: Rehearsal, delay_s: float, folder: Path) -> tuple[Publisher, Clock]:
    clock = Clock()
    public = PublicView(event.state, delay_s=delay_s, clock=clock)
    publisher = Publisher(
        ServerConfig(port=0),
        event.state,
        clock=lambda: 0.0,
        limits=ClientLimits(tick_s=0.0),
        site=StaticSite(folder),
        study=StaticSite(folder, STUDY_TYPES),
        public=public,
    )
    event.listeners.append(publisher.audiences.publish)
    return publisher, clock


@pytest.mark.parametrize("first", [0, 5])
async def test_no_public_byte_of_a_delayed_event_leads_to_the_game(
    first: int, tmp_path: Path
) -> None:
    event = Rehearsal()
    publisher, clock = serve(event, DELAY_S, tmp_path)
    async with publisher:
        sweep = Sweep(event, publisher)
        readers = [
            asyncio.create_task(read(live(publisher, query)))
            for query in ("", "?detail=brief", "?detail=gains")
        ]
        await until(lambda: publisher.tally.subscribers == len(readers))
        for plies in (2, 3, 4):
            event.report(report(plies, first))
            for reported in (
                FeedHealth(FEED, "live", f"{FEED}: 2 games"),
                health.part_health(f"game {ID}", "failed", f"{ID} given up"),
            ):
                event.publish(event.state.update_feed_health(reported))
            clock.now_s += DELAY_S + 1
            publisher.public.release_due()
            views = list(publisher.public.games())
            await sweep.look([quote(view.id) for view in views])
        assert len(views) == 2 and views[0].plies_played == 4
        readers.append(asyncio.create_task(read(live(publisher))))
        await until(lambda: publisher.tally.subscribers == len(readers))
    for reader in readers:
        sweep.on_text += await reader
    assert len(sweep.on_text) > 60
    for said in sweep.on_text:
        assert ID.lower().encode() not in said.lower()
    # Arbiters are told all of it.
    (held,) = [view for view in event.state.games() if view.id == ID]
    assert held.event == ADDRESSES[first] and held.url.endswith(ID)


async def test_an_old_id_is_answered_like_any_that_nobody_knows(tmp_path: Path) -> None:
    event = Rehearsal()
    event.report(report(2))
    publisher, _ = serve(event, DELAY_S, tmp_path)
    other = "SECRETxy"
    for path in ("/api/v3/games/{}", "/api/v3/games/{}.pgn", "/api/v3/games/{}/public"):
        asked = [
            await publisher.clients.answer(
                HttpRequest(
                    "GET", path.format(id), (), {"host": "127.0.0.1", "accept": ""}
                )
            )
            for id in (ID, other)
        ]
        bodies = [answer.body.replace(ID.encode(), other.encode()) for answer in asked]
        assert [answer.status for answer in asked] == [404, 404] and bodies[
            0
        ] == bodies[1]
    for query in ((("game", ID),), (("game", other),)):
        answer = await publisher.clients.answer(
            HttpRequest("GET", "/api/v3/games", query, {"host": "127.0.0.1"})
        )
        assert json.loads(answer.body) == {"games": []}
    public = publisher.public
    assert not list(public.player_ids(ID)) and public.game(ID) is None
    assert list(public.player_ids(public.names.public_id(ID)))


async def test_arbiters_keep_the_real_ids_and_are_told_the_others_for_their_links(
    tmp_path: Path,
) -> None:
    event = Rehearsal()
    event.report(report(2))
    token, file = token_file(tmp_path, arbiter=True)
    public = PublicView(event.state, delay_s=DELAY_S, clock=Clock())
    config = ServerConfig(port=0, tokens_file=file, public=True)
    publisher = Publisher(config, event.state, site=StaticSite(tmp_path), public=public)

    async def ask(path: str, headers: dict[str, str]) -> Any:
        known = {"host": "127.0.0.1"} | {
            name.lower(): text for name, text in headers.items()
        }
        answer = await publisher.clients.answer(HttpRequest("GET", path, (), known))
        return answer.status, json.loads(answer.body)

    status, game = await ask(f"/api/v3/games/{ID}", bearer(token))
    assert (status, game["id"]) == (200, ID)
    for asked, headers in ((ID, bearer(token)), (public.names.public_id(ID), {})):
        path = f"/api/v3/games/{asked}/public"
        assert await ask(path, headers) == (200, {"id": public.names.public_id(ID)})
    assert (await ask(f"/api/v3/games/{ID}/public", {}))[0] == 404


def test_ids_change_at_once_when_a_delay_is_set_and_again_when_it_is_over() -> None:
    world, now = World(3, "g1", "g2", plies=3), [0.0]
    public = PublicView(world, clock=lambda: now[0])
    begun: list[list[str]] = []

    def ids() -> list[str]:
        return sorted(view.id for view in public.games())

    public.listen(lambda changes: None, lambda: begun.append(ids()))
    assert ids() == ["g1", "g2"]
    public.set_delay(DELAY_S)
    others = sorted(map(public.names.public_id, ("g1", "g2")))
    assert ids() == others and not {"g1", "g2"} & set(others)
    assert public.game("g1") is None and public.game(others[0]) is not None
    # A longer delay gives no other names.
    public.set_delay(2 * DELAY_S)
    public.publish(world.vanish())
    assert ids() == others
    now[0] += 2 * DELAY_S
    public.release_due()
    assert len(ids()) == 1
    public.set_delay(0.0)
    left = [view.id for view in world.games()]
    assert ids() == left and public.game(left[0]) == world.held[left[0]]
    assert begun == [others, left]


async def test_who_reads_while_a_delay_is_set_comes_again_for_other_ids(
    tmp_path: Path,
) -> None:
    event = Rehearsal()
    publisher, _ = serve(event, 0.0, tmp_path)
    async with publisher:
        event.report(report(2))
        retained = RetainedMessages(publisher.public, "live")
        publisher.public.listen(retained.mark_changed, retained.reset)
        before = retained.take(1000)
        assert any(ID in topic for topic in before)
        async with connect(live(publisher)) as reader:
            hello = json.loads(await reader.recv())
            await until(lambda: publisher.tally.subscribers == 1)
            publisher.public.set_delay(DELAY_S)
            _, code = await left_in(reader)
            assert code == 1001
        async with connect(
            live(publisher, f"?epoch={hello['epoch']}&since=1")
        ) as again:
            said = await again.recv(), await again.recv()
            assert json.loads(said[0])["resumed"] is False and ID not in str(said)
        # On a broker the old topics are cleared, the others hold the new id.
        for topic, payload in retained.take(1000).items():
            assert (payload == b"") if ID in topic else (ID.encode() not in payload)


def test_a_token_for_some_games_goes_on_naming_them_by_their_real_ids() -> None:
    world = World(3, "g1", "g2", plies=3)
    public = PublicView(world, delay_s=DELAY_S, clock=Clock())
    within = StreamFilter(games=frozenset({"g1"}))
    token = StreamFilter(restriction=within)
    assert [
        view.id for view in snapshot(public, public.names.add_public_ids(token)).games
    ] == [public.names.public_id("g1")]
    arbiter = StreamFilter(restriction=within, visibility=Visibility.ARBITER)
    assert public.names.add_public_ids(arbiter) is arbiter
    # And what their overlays say of boards on air is understood.
    assert public.names.find_real_ids([public.names.public_id("g2"), "x"]) == {
        "g2",
        "x",
    }


def test_nothing_delayed_changes_no_id_and_no_text() -> None:
    world = World(3, "g1", plies=3)
    event = "Rated https://lichess.org/tournament/x"
    world.held["g1"] = msgspec.structs.replace(world.held["g1"], event=event)
    public = PublicView(world)
    client = follower(public)
    assert snapshot(public) == snapshot(world)
    public.publish(world.move())
    (game,) = client.games()
    assert (game.id, game.event) == ("g1", event)


def test_every_message_about_a_game_has_its_other_id() -> None:
    """Also one that somebody adds: whatever type names a game is redacted."""
    names = Pseudonyms(b"a secret")
    world = World(3, "g1", plies=3)
    detail = world.held["g1"]
    told = moment("g1")
    [point] = world.point()
    assert isinstance(point, to_clients.PointMessage)
    made: dict[type, Any] = {
        to_clients.GameMessage: GameMessage(next(iter(world.games()))),
        to_clients.GoneMessage: to_clients.GoneMessage("g1"),
        to_clients.MoveMessage: MoveMessage("g1", 1, detail.plies[0]),
        to_clients.ClockMessage: to_clients.ClockMessage("g1", 1, 3.0),
        to_clients.ScoreMessage: to_clients.ScoreMessage("g1", detail.plies[0]),
        to_clients.PointMessage: to_clients.PointMessage("g1", "white", point.point),
        to_clients.MomentMessage: to_clients.MomentMessage("g1", told),
        figures.GameDetail: detail,
        moments.Moment: told,
    }
    of_games = {
        kind
        for kind in (*Change.__args__, figures.GameDetail, moments.Moment)
        if {"game", "id"} & set(kind.__struct_fields__)
    }
    assert of_games == made.keys()
    for value in made.values():
        text = msgspec.json.encode(names.redact(value))
        assert names.game_id("g1").encode() in text and b'"g1' not in text


def test_names_rest_on_the_secret_and_stay_over_a_restart(tmp_path: Path) -> None:
    one, other = Pseudonyms(b"one"), Pseudonyms(b"other")
    assert one.game_id(ID) == Pseudonyms(b"one").game_id(ID) != other.game_id(ID)
    assert one.source_name(FEED) != other.source_name(FEED)
    journal = tmp_path / "a.sqlite"
    found = []
    for _ in range(2):
        with Journal(journal) as opened:
            found.append(open_pseudonyms(opened).game_id(ID))
            assert opened.wait_until_written()
    assert found[0] == found[1]
    # Without a journal it is another at each start.
    assert open_pseudonyms(Journal()).game_id(ID) != open_pseudonyms(Journal()).game_id(
        ID
    )


def test_a_source_has_one_name_everywhere_which_confirms_no_guess() -> None:
    world = World(1, "g1")
    world.held["g1"] = msgspec.structs.replace(world.held["g1"], feed=FEED, also=("b",))
    world.feed_health = (FeedHealth(FEED, "live", "2 games"),)
    public = PublicView(world, pseudonyms=Pseudonyms(b"x"))
    name = Pseudonyms(b"x").source_name(FEED)
    whole = snapshot(public)
    assert (
        (whole.games[0].feed, whole.feeds[0].feed)
        == (name, name)
        != whole.games[0].also
    )
    came: list[Change] = []
    public.listen(came.extend)
    public.publish([*world.headers(), to_clients.HealthMessage(world.feed_health)])
    assert [name.encode() in msgspec.json.encode(each) for each in came] == [True, True]
    # Who runs the service reads what sources are called.
    own: list[Change] = []
    public.listen(own.extend, knows_sources=True)
    public.publish([to_clients.HealthMessage(world.feed_health)])
    assert FEED.encode() in msgspec.json.encode(own)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Hamburg https://lichess.org/abc", "Hamburg"),
        ("lichess.org", "lichess.org"),
        ("lichess.org/abc", ""),
        ("Rated blitz lichess.org/tournament/x (A)", "Rated blitz (A)"),
        ("40/7200:20/3600:900+30", "40/7200:20/3600:900+30"),
        ("1.2.3.4", "1.2.3.4"),
        ("B90/B92 6.Bg5/6.Be3", "B90/B92 6.Bg5/6.Be3"),
        ("St. Gallen/Zürich", "St. Gallen/Zürich"),
        ("90 min / 40 moves + 30 min", "90 min / 40 moves + 30 min"),
        ("  two  blanks ", "  two  blanks "),
    ],
)
def test_addresses_are_left_out_and_what_is_none_stays(text: str, bare: str) -> None:
    assert strip_addresses(text) == bare


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_text_of_a_game_tells_the_way_to_it(address: str) -> None:
    world = World(3, ID)
    held = world.held[ID]
    ours = ("id", "feed", "start_fen", "model")
    texts: dict[str, Any] = {
        name: f"a {address}"
        for name, kind in get_type_hints(GameView).items()
        if kind in (str, str | None) and name not in ours
    }
    player = Player(f"a {address}", title=address, federation=address, team=address)
    told = Pseudonyms(b"x").redact(msgspec.structs.replace(held, **texts, white=player))
    assert ID.lower().encode() not in msgspec.json.encode(told).lower()
    assert told.event.startswith("a") and told.white.name.startswith("a")
    assert told.start_fen == held.start_fen


def test_a_long_text_of_dots_takes_no_time() -> None:
    """No text of 200 characters, which sources may send, makes the search slow."""
    for text in (
        "a." * 100,
        "a-" * 100,
        "1." * 100,
        "[" + ":" * 199,
        "x:" * 100,
        "a+" * 100,
    ):
        assert strip_addresses(text) == text


def test_reports_written_while_there_is_a_delay_have_other_ids() -> None:
    world = World(3, "g1", plies=3)
    public = PublicView(world, delay_s=DELAY_S, clock=Clock())
    (game,) = build_analysis(public).games
    assert game.id == public.names.public_id("g1") and game.url == ""
