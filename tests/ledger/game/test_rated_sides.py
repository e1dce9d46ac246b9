"""What moves say beside those that people choose, whatever order answers come in."""

from __future__ import annotations

import random

import chess
import msgspec

from live.engine.search import Limit
from live.events import Curves, GameDetail, Player
from live.games.game_steps import HeadersChanged, NewGame
from live.human.question import HumanAnswer, HumanQuestion
from live.ledger.calibrations_in_use import CalibrationsInUse, HumanSearches
from live.ledger.event_ledger import EventLedger
from live.ledger.outgoing_messages import Effects, HumanRequest, SearchRequest
from live.ratings.strength.loss_model import LossReader
from tests.ledger.arithmetic import ANAND, CARLSEN, answer, game, line
from tests.ledger.game.test_archived_game import CALIBRATED, Shelves
from tests.ledger.test_event_ledger import ledger
from tests.ratings.strength.test_human_evidence import model

PLIES = 24
MOVES = line(*range(3, 3 + PLIES))
WITHOUT = CALIBRATED._replace(losses=(LossReader(model()),))
WITH = WITHOUT._replace(human=HumanSearches(12, Limit(nodes=250)))


def people(question: HumanQuestion, network: str = "network") -> HumanAnswer:
    """Some of the moves, drawn from the position; the played one among them."""
    board = chess.Board(question.fen)
    for uci in question.moves:
        board.push_uci(uci)
    legal = sorted(move.uci() for move in board.legal_moves)
    draw = random.Random(board.fen())
    shares = []
    for _ in question.elos:
        weights = {uci: draw.randint(1, 9) for uci in legal}
        shares.append({uci: 1000 * w // sum(weights.values()) for uci, w in weights.items()})
    return HumanAnswer(network, tuple(shares))


class Played:
    """A ledger whose searches and questions are answered in any order."""

    def __init__(self, in_use: CalibrationsInUse, order: random.Random | None = None) -> None:
        self.held: EventLedger = ledger(in_use=in_use)
        self._order = order
        self._network = "network"
        self._open: list[SearchRequest | HumanRequest] = []

    def network(self, name: str) -> Played:
        self._network = name
        return self

    def take(self, out: Effects) -> None:
        self._open = [each for each in self._open if not _dropped(each, out)]
        self._open += [*out.requests, *out.questions]

    def run(self, unanswered: int | None = None) -> GameDetail:
        """Everything is answered, but for the question about one position."""
        while self._open:
            at = self._order.randrange(len(self._open)) if self._order else 0
            one = self._open.pop(at)
            if isinstance(one, SearchRequest):
                self.take(self.held.searched(one.id, answer(one.search)))
            else:
                told = None if one.ply == unanswered else people(one.question, self._network)
                self.take(self.held.answered(one, told))
        detail = self.held.game("g1")
        assert detail is not None
        return detail

    def begin(self, white: Player = ANAND) -> Played:
        self.take(self.held.apply(NewGame(game(moves=MOVES, white=white, black=CARLSEN))))
        return self


def _dropped(each: SearchRequest | HumanRequest, out: Effects) -> bool:
    return isinstance(each, SearchRequest) and each.id in out.dropped


def alone(curves: Curves) -> list[tuple[float | None, ...]]:
    points = sorted((*curves.white, *curves.black), key=lambda point: point.ply)
    return [(point.alone, point.alone_low, point.alone_high) for point in points]


def test_whatever_order_answers_come_in_the_figures_are_the_same() -> None:
    wanted = Played(WITH).begin().run()
    for seed in range(4):
        found = Played(WITH, random.Random(seed)).begin().run()
        assert found.curves == wanted.curves
        assert found.methods == wanted.methods


def test_moves_among_people_change_moves_alone_and_performance() -> None:
    with_people, without = Played(WITH).begin().run(), Played(WITHOUT).begin().run()
    assert alone(with_people.curves)[-1] != alone(without.curves)[-1]
    assert with_people.methods.white.performance != without.methods.white.performance


def test_from_a_move_without_an_answer_on_the_losses_count_alone() -> None:
    lacking = 14
    with_people, without = Played(WITH).begin().run(), Played(WITHOUT).begin().run()
    found = Played(WITH).begin().run(unanswered=lacking)
    assert "from move 8 on by losses alone" in found.calibration_note
    assert "losses alone" not in with_people.calibration_note
    assert "losses alone" not in without.calibration_note
    for ply, each in enumerate(alone(found.curves), 1):
        mine = ply % 2 == (lacking + 1) % 2
        wanted = without if mine and ply > lacking else with_people
        assert each == alone(wanted.curves)[ply - 1], ply


def test_another_network_than_the_one_learned_with_changes_no_figure() -> None:
    other = Played(WITH).network("another").begin().run()
    assert other.curves == Played(WITHOUT).begin().run().curves


def test_a_new_rating_has_people_asked_anew_and_ends_in_the_same_figures() -> None:
    corrected = msgspec.structs.replace(ANAND, elo=2300)
    played = Played(WITH).begin()
    played.run()
    headers = game(moves=MOVES, white=corrected, black=CARLSEN).headers
    played.take(played.held.apply(HeadersChanged("g1", headers)))
    assert played.run().curves == Played(WITH).begin(corrected).run().curves


def test_what_rested_on_disk_keeps_the_likelihood_among_people() -> None:
    played = Played(WITH).begin(Player("Nobody"))
    wanted = played.run()
    shelves = Shelves()
    assert shelves.keep(played.held, "g1")
    held = ledger(in_use=WITH)
    held.resume(shelves.all(), shelves.recall)
    assert held.players() == played.held.players()
    found = held.game("g1")
    assert found is not None
    assert found.curves == wanted.curves
    # Others join, the field is another, and the level of who has no rating is made anew.
    for each in (held, played.held):
        each.apply(NewGame(game("g2", white=Player("Other", elo=1500), black=Player("Third"))))
    one, other = held.game("g1"), played.held.game("g1")
    assert one is not None
    assert other is not None
    assert one.curves == other.curves
