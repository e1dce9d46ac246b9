"""Who hears what, and how much of it; real apprise, to a server on loopback."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from live.errors import ConfigError
from live.messages.alerts import Alert
from live.messages.figures import GameView, view_of
from live.messages.from_sources import Player
from live.messages.health import FeedHealth
from live.messages.to_clients import (
    AlertMessage,
    GameMessage,
    GoneMessage,
    MomentMessage,
)
from live.outlets import notices
from live.outlets.notices import (
    HOUR_S,
    ArbiterRules,
    Notice,
    Notifier,
    PublicRules,
    open_people,
)
from live.process.supervision import run_in_background
from live.settings import NotifyConfig
from tests.watch.games import game, moment

#: apprise imports a module of the standard library that is to go.
pytestmark = pytest.mark.filterwarnings(
    "ignore:'imghdr' is deprecated:DeprecationWarning"
)


@pytest.fixture
def rules() -> PublicRules:
    return PublicRules(NotifyConfig())


def view(
    plies: int, result: str = "*", id: str = "g", white: str = "Adams, Ann"
) -> GameView:
    return view_of(
        game([0.5] * plies, id=id, result=result, white=Player(white, fide_id=77))
    )


def bodies(rules: PublicRules, *views: GameView, now_s: float = 0.0) -> list[str]:
    messages = [GameMessage(view) for view in views]
    return [notice.body for notice in rules.collect_notices(messages, now_s)]


def test_a_game_that_begins_and_ends_is_told_once(rules: PublicRules) -> None:
    assert bodies(rules, view(0), view(1), view(2)) == ["The game has begun."]
    assert bodies(rules, view(3, "1-0"), view(3, "1-0")) == ["The game is over: 1-0."]


def test_what_was_so_before_is_no_news(rules: PublicRules) -> None:
    assert bodies(rules, view(3), view(4)) == []
    for first in (view(0), view(2)):
        begun = bodies(PublicRules(NotifyConfig()), first, view(2))
        assert begun == ["The game has begun."], "not taken up in its middle"
    rules = PublicRules(NotifyConfig())
    rules.set_known([view(9, "1-0")], [moment("g")])
    assert bodies(rules, view(9, "1-0")) == []
    # A moment that nobody saw happen is as old as the service.
    old = MomentMessage("g", moment("g", 2, at_s=None))
    assert rules.collect_notices([old], 0.0) == []
    # Nor is one from before the start, when its figures change.
    changed = MomentMessage("g", moment("g", weight=0.9))
    assert rules.collect_notices([changed], 0.0) == []


def test_what_a_source_takes_back_and_says_again_is_told_once(
    rules: PublicRules,
) -> None:
    assert len(bodies(rules, view(0), view(1), view(0), view(1))) == 1
    assert bodies(rules, view(3, "1-0"), view(3), view(3, "1-0")) == [
        "The game is over: 1-0."
    ]
    assert bodies(rules, view(3, "0-1")) == ["The result is corrected: 0-1."]


def test_only_what_and_whom_somebody_asked_for() -> None:
    follows = PublicRules(NotifyConfig(players=("  adams,  ANN",), what=("ends",)))
    assert bodies(follows, view(0), view(1), view(1, "1-0")) == [
        "The game is over: 1-0."
    ]
    other = view(0, id="h", white="Berg"), view(1, "1-0", id="h", white="Berg")
    assert bodies(PublicRules(NotifyConfig(players=("Adams, Ann",))), *other) == []
    by_id = PublicRules(NotifyConfig(players=("77",)))
    assert bodies(by_id, view(0), view(1)) == ["The game has begun."]


def test_moments_come_once_in_the_language_asked_for() -> None:
    rules = PublicRules(NotifyConfig(lang="de"))
    rules.set_known([view(3)])
    message = MomentMessage("g", moment("g"))
    (notice,) = rules.collect_notices([message], 0.0)
    assert notice == ("Adams, Ann – Berg, Bo, board 1, Open", "It happened (de).")
    assert rules.collect_notices([message], 1.0) == []
    assert (
        rules.collect_notices([MomentMessage("g", moment("g", 2), holds=False)], 1.0)
        == []
    )
    assert (
        rules.collect_notices([MomentMessage("g", moment("g", 3, weight=0.3))], 1.0)
        == []
    )
    rules.collect_notices([GoneMessage("g")], 2.0)
    assert rules.collect_notices([MomentMessage("g", moment("g", 4))], 2.0) == []
    # Another game by that id has moments of its own.
    rules.collect_notices([GameMessage(view(3))], 3.0)
    assert len(rules.collect_notices([message], 3.0)) == 1


def test_a_flood_is_cut_off_and_told_of_once_an_hour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(notices, "PER_HOUR", 3)
    rules = PublicRules(NotifyConfig())
    told = [bodies(rules, view(0, id=f"g{n}"), view(1, id=f"g{n}")) for n in range(8)]
    assert told[1] == ["The game has begun."]
    assert told[2][0].startswith("The game has begun. (") and told[3] == []
    assert rules.limit.left_out == 5
    later: list[str] = []
    # In no hour more than that, whenever it begins.
    times_s = (HOUR_S, HOUR_S + 10, HOUR_S + 20, 2 * HOUR_S + 5, 2 * HOUR_S + 6)
    for n, now_s in enumerate(times_s):
        later += bodies(rules, view(0, id=f"h{n}"), view(1, id=f"h{n}"), now_s=now_s)
    assert ["no more" in body for body in later] == [False, False, True, False]


FLAG = Alert(
    id="flag:g",
    kind="flag",
    severity="alarm",
    text="White's flag has fallen.",
    advice="Look at the clock.",
    game="g",
    first_seen_s=100.0,
)
NOTICE = Notice(
    "Adams, Ann – Berg, Bo, board 1, Open",
    "White's flag has fallen. Look at the clock.",
)


def alert(**changes: Any) -> AlertMessage:
    return AlertMessage(msgspec.structs.replace(FLAG, **changes))


def needs(rules: ArbiterRules, **changes: Any) -> list[Notice]:
    return rules.collect_notices([alert(**changes)], 0.0)


def test_what_needs_the_arbiter_is_sent_once_and_again_when_it_comes_again() -> None:
    rules = ArbiterRules(NotifyConfig())
    rules.set_known([view(3)], [])
    assert needs(rules) == [NOTICE]
    assert needs(rules, text="White's flag fell 5 s ago.") == []
    assert needs(rules, acknowledged_s=101.0, note="seen") == []
    assert needs(rules, times=2) == [NOTICE]
    assert needs(rules, times=2, cleared_s=110.0) == []
    assert needs(rules, times=3) == [NOTICE]


def test_only_what_is_urgent_and_not_muted_needs_the_arbiter() -> None:
    rules = ArbiterRules(NotifyConfig())
    rules.set_known([view(3)], [])
    assert needs(rules, severity="look") == []
    assert needs(rules, severity="warning") == [NOTICE], "it has become urgent"
    assert needs(rules, severity="look") == []
    assert needs(rules, id="muted", muted=True) == []
    assert (
        needs(ArbiterRules(NotifyConfig(arbiters_from="alarm")), severity="warning")
        == []
    )
    assert (
        needs(ArbiterRules(NotifyConfig(arbiters_from="look")), severity="look") != []
    )


def test_what_stood_at_the_start_and_other_players_boards_need_no_notice() -> None:
    rules = ArbiterRules(NotifyConfig(players=("Berg",)))
    rules.set_known([view(3)], [msgspec.structs.replace(FLAG, id="old", game=None)])
    assert needs(rules, id="old", game=None) == []
    assert needs(rules) == []
    # A feed is everybody's matter.
    (notice,) = needs(rules, id="feed", kind="feed", game=None, feed="hall")
    assert notice.title == "live-rate"


def test_people_are_never_sent_what_needs_the_arbiter(rules: PublicRules) -> None:
    rules.set_known([view(3)])
    assert rules.collect_notices([alert()], 0.0) == []


class Inbox:
    """Takes in what is posted to it."""

    def __init__(self) -> None:
        self.letters: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.status = "200 OK"

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        self.letters.put_nowait(json.loads(await reader.readexactly(length)))
        writer.write(f"HTTP/1.1 {self.status}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()


async def test_a_game_that_begins_reaches_people(tmp_path: Path) -> None:
    inbox = Inbox()
    told: list[FeedHealth] = []
    server = await asyncio.start_server(inbox.serve, "127.0.0.1", 0)
    async with server, asyncio.timeout(60):
        urls = tmp_path / "urls"
        port = server.sockets[0].getsockname()[1]
        urls.write_text(f"# mine\n\njson://127.0.0.1:{port}/\n")
        rules = PublicRules(NotifyConfig())
        notifier = Notifier(rules, "notify.urls_file", str(urls), report=told.append)
        async with run_in_background(notifier.run(), "notices"):
            notifier.publish([GameMessage(view_of(game(wins))) for wins in ([], [0.5])])
            letter = await inbox.letters.get()
        assert (letter["title"], letter["message"]) == (
            NOTICE.title,
            "The game has begun.",
        )
        inbox.status = "500 No"
        assert not await notifier.send_notice(Notice("a", "b"))
        why = "not everybody could be notified; the log says more"
        assert told[-1] == FeedHealth("notifications", "retrying", why, part=True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "contains no address"),
        (b"# only\n", "contains no address"),
        (b"nonsense\n", "line 1"),
        ("mailto://Gr\u00fc\u00dfe".encode("latin-1"), "is not UTF-8 text"),
        (
            None,
            r"^notify.urls_file .*: cannot be read \(No such file or directory\). Corr",
        ),
    ],
)
def test_a_file_that_reaches_nobody_is_refused(
    tmp_path: Path, text: bytes | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "urls").write_bytes(text)
    with pytest.raises(ConfigError, match=words):
        open_people("notify.urls_file", str(tmp_path / "urls"))


def test_a_path_may_begin_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "urls").write_text("json://127.0.0.1/\n")
    assert len(open_people("notify.urls_file", "~/urls")) == 1
