"""The network of human moves beside the engines."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import chess
import pytest

from live.commands.read_settings import read_settings
from live.errors import ConfigError
from live.human import human_queue
from live.human.human_queue import HumanQueue
from live.human.network import HumanNetwork, NetworkInput
from live.human.question import HumanAnswer, HumanQuestion, HumanRequest
from live.journal.journal import Journal
from live.journal.journal_reader import JournalReader
from live.journal.recorded_event import rebuild_event
from live.messages.figures import PlyView
from live.settings import HumanConfig
from live.sources import demo_feed
from tests.event.answered_event import open_service, report_and_settle
from tests.journal.test_journal import alter_file
from tests.sources.fakes import upto


class Network(HumanNetwork):
    """Everybody plays the first legal move; counts what it was asked."""

    identity = "scripted"

    def __init__(self) -> None:
        # No file is opened.
        self.about = {"learned": "nobody's games"}
        self.asked: list[NetworkInput] = []

    def predict_shares(self, inputs: Sequence[NetworkInput]) -> list[dict[str, float]]:
        self.asked += inputs
        return [
            {next(iter(position.board.legal_moves)).uci(): 1.0} for position in inputs
        ]


class Kept(Journal):
    """A journal in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[HumanQuestion, HumanAnswer] = {}

    def find_answer(self, question: HumanQuestion) -> HumanAnswer | None:
        return self.answers.get(question)

    def store_answer(self, question: HumanQuestion, answer: HumanAnswer) -> None:
        self.answers[question] = answer


def request(ply: int = 0, *, newest: bool = False, elo: int = 2000) -> HumanRequest:
    question = HumanQuestion(
        chess.STARTING_FEN, ("e2e4",) if ply else (), (elo, 1500), "otb"
    )
    return HumanRequest("g1", ply, question, newest)


async def ask_queue(
    network: HumanNetwork | Exception,
    requests: Sequence[HumanRequest],
    kept: Kept | None = None,
) -> tuple[HumanQueue, list[tuple[HumanRequest, HumanAnswer | None]]]:
    """The service, and what it said to these requests, in order."""
    said: list[tuple[HumanRequest, HumanAnswer | None]] = []
    done = asyncio.Event()

    def hear(asked: HumanRequest, answer: HumanAnswer | None) -> None:
        said.append((asked, answer))
        if len(said) == len(requests):
            done.set()

    def open_network(path: Path | None) -> HumanNetwork:
        if isinstance(network, Exception):
            raise network
        return network

    service = HumanQueue(HumanConfig(), kept or Kept(), hear, open_network=open_network)
    for each in requests:
        service.ask(each)
    assert not said, "never before the call returns"
    async with asyncio.timeout(10), service.running():
        await done.wait()
    return service, said


async def test_each_question_is_answered_for_all_its_ratings_and_kept() -> None:
    network, kept = Network(), Kept()
    service, said = await ask_queue(network, [request()], kept)
    assert said[0][1] == HumanAnswer("scripted", ({"g1h3": 1000}, {"g1h3": 1000}))
    assert [one.elo for one in network.asked] == [(2000, 2000), (1500, 1500)]
    assert list(kept.answers) == [request().question]
    health = service.report_health()
    assert (health.network, health.learned_from) == ("scripted", "nobody's games")
    assert (health.answered, health.waiting, health.left_out) == (1, 0, 0)


async def test_what_people_look_at_goes_first_and_the_same_is_asked_once() -> None:
    network = Network()
    asked = [
        request(elo=1700),
        request(elo=1700),
        *(request(ply, newest=True) for ply in (1, 2, 3)),
    ]
    _, said = await ask_queue(network, asked)
    assert [each for each, _ in said] == [
        asked[4],
        asked[2],
        asked[3],
        asked[0],
        asked[1],
    ]


@pytest.mark.parametrize("of", ["scripted", "other"])
async def test_what_this_network_answered_before_is_not_asked_again(of: str) -> None:
    network, kept = Network(), Kept()
    before = kept.answers[request().question] = HumanAnswer(
        of, ({"e2e4": 900}, {"e2e4": 800})
    )
    ((_, answer),) = (await ask_queue(network, [request()], kept))[1]
    assert (answer == before) == (not network.asked) == (of == "scripted")
    assert kept.answers[request().question].network == "scripted"


async def test_without_a_network_the_kept_answers_are_all_there_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    kept = Kept()
    before = kept.answers[request().question] = HumanAnswer(
        "other", ({"e2e4": 900}, {})
    )
    missing = ConfigError("human", "onnxruntime is not installed", "Run: pip install …")
    service, said = await ask_queue(missing, [request(), request(1)], kept)
    assert [answer for _, answer in said] == [before, None]
    assert "onnxruntime is not installed" in service.report_health().problem
    assert len(caplog.records) == 1


async def test_a_network_that_fails_is_given_up_and_all_else_goes_on() -> None:
    class Broken(Network):
        def predict_shares(
            self, inputs: Sequence[NetworkInput]
        ) -> list[dict[str, float]]:
            raise MemoryError("no room")

    service, said = await ask_queue(Broken(), [request()])
    assert said[0][1] is None
    assert "MemoryError" in service.report_health().problem


async def test_of_too_many_the_oldest_that_nobody_looks_at_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(human_queue, "MOST_WAITING", 2)
    asked = [request(newest=True), request(elo=1700), request(elo=1800)]
    service, said = await ask_queue(Network(), asked)
    assert said[0] == (asked[1], None)
    assert service.report_health().left_out == 1
    replied = {each.question for each, answer in said if answer}
    assert replied == {asked[0].question, asked[2].question}


async def test_a_restart_shows_the_same_without_the_network(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    path, game = tmp_path / "journal.sqlite", demo_feed.read_demo_games()[0]
    game = upto(game, 16)
    found: list[tuple[PlyView, ...]] = []
    for network in ("", str(tmp_path / "gone.onnx")):
        config = read_settings(
            None, {}, {"engine.nodes": 500, "human.network": network}
        )
        async with open_service(config, path, human=True) as service:
            (detail,) = (await report_and_settle(service, game)).games
            found.append(detail.plies)
        # As after a crash: nothing was kept whole.
        alter_file(path, "UPDATE games SET measure = NULL, rest = NULL, n = 0")
    assert found[0] == found[1]
    assert all(view.played_share is not None for view in found[0])
    assert any(
        view.difficulty and view.difficulty.error_chance is not None
        for view in found[0]
    )
    with JournalReader.open(path) as reader:
        read = rebuild_event(reader, path).state
        again = read.game(next(iter(read.games())).id)
    assert again is not None and again.plies == found[0]
