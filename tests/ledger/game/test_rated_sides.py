"""What moves say beside those that people choose, whatever order answers come in."""

from __future__ import annotations

import random
from collections.abc import Callable

import chess
import msgspec
import pytest

from live.engine.search import Limit, Search, SearchResult
from live.events import ChoiceEvidence, Curves, GameDetail, Player, Score
from live.games.game_steps import HeadersChanged, NewGame
from live.human.question import HumanAnswer, HumanQuestion
from live.ledger.calibrations_in_use import CalibrationsInUse, HumanSearches
from live.ledger.event_ledger import EventLedger
from live.ledger.outgoing_messages import Effects, HumanRequest, SearchRequest
from live.ratings.strength.agreement import load_choice_model
from live.ratings.strength.loss_model import LossReader, shipped_loss_models
from tests.ledger.arithmetic import ANAND, CARLSEN, answer, game, line, whole
from tests.ledger.game.test_archived_game import CALIBRATED, Shelves
from tests.ledger.test_event_ledger import ledger
from tests.ratings.strength.test_human_evidence import model

PLIES = 24
MOVES = line(*range(3, 3 + PLIES))
WITHOUT = CALIBRATED._replace(losses=(LossReader(model()),))
FORECAST = load_choice_model("classical")
assert FORECAST.human is not None
WITH = WITHOUT._replace(
    human=HumanSearches(12, Limit(nodes=250)),
    forecast=msgspec.structs.replace(
        FORECAST, human=msgspec.structs.replace(FORECAST.human, network="network")
    ),
)


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

    def __init__(
        self,
        in_use: CalibrationsInUse,
        order: random.Random | None = None,
        engine: Callable[[Search], SearchResult] = answer,
    ) -> None:
        self.held: EventLedger = ledger(in_use=in_use)
        self._engine = engine
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
                self.take(self.held.searched(one.id, self._engine(one.search)))
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


def screened(played: Played) -> list[ChoiceEvidence | None]:
    return [player.agreement for player in played.held.players()]


def alone(curves: Curves) -> list[tuple[float | None, ...]]:
    points = sorted((*curves.white, *curves.black), key=lambda point: point.ply)
    return [(point.alone, point.alone_low, point.alone_high) for point in points]


def test_whatever_order_answers_come_in_the_figures_are_the_same() -> None:
    wanted_by = Played(WITH).begin()
    wanted = wanted_by.run()
    for seed in range(4):
        found_by = Played(WITH, random.Random(seed)).begin()
        found = found_by.run()
        assert found.curves == wanted.curves
        assert found.methods == wanted.methods
        assert screened(found_by) == screened(wanted_by)


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


def test_a_choice_that_many_find_was_to_be_expected() -> None:
    with_people, without = Played(WITH).begin(), Played(WITH).network("another").begin()
    with_people.run()
    without.run()
    for one, other in zip(screened(with_people), screened(without), strict=True):
        assert one is not None
        assert other is not None
        assert (one.moves, one.matches) == (other.moves, other.matches)
        assert one.expected != other.expected


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
    whole(held.resume(shelves.all(), shelves.recall))
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


RANKED = CALIBRATED._replace(
    losses=tuple(LossReader(each) for each in shipped_loss_models() if each.name == "classical")
)
#: A game that makes the field another.
JOINING = NewGame(game("g2", white=Player("Other", elo=1500), black=Player("Third", elo=1400)))


def small_losses(search: Search) -> SearchResult:
    found = answer(search)
    return msgspec.structs.replace(found, score=Score(found.score.cp // 10))


@pytest.mark.parametrize("kept", [False, True])
def test_a_percentile_goes_by_the_field_as_it_is_now(kept: bool) -> None:
    """That of the rated player: the other has no rating, so the field says what he was to lose."""
    first = Played(RANKED, engine=small_losses)
    first.take(first.held.apply(JOINING))
    wanted = first.begin(Player("Nobody")).run()
    late = Played(RANKED, engine=small_losses).begin(Player("Nobody"))
    before = late.run()
    held = late.held
    if kept:
        shelves = Shelves()
        assert shelves.keep(held, "g1")
        held = ledger(in_use=RANKED)
        whole(held.resume(shelves.all(), shelves.recall))
    held.apply(JOINING)
    found = held.game("g1")
    assert found is not None
    assert found.curves == wanted.curves
    assert found.curves.black[-1].percentile != before.curves.black[-1].percentile
    one, other = ({each.id: each.percentile for each in of.players()} for of in (held, first.held))
    assert one == other


def test_a_percentile_kept_before_the_field_changed_is_pooled_as_the_field_is_now() -> None:
    late = Played(RANKED, engine=small_losses).begin(Player("Nobody"))
    late.run()
    shelves = Shelves()
    assert shelves.keep(late.held, "g1")
    late.take(late.held.apply(JOINING))
    late.run()
    assert shelves.keep(late.held, "g2")
    held = ledger(in_use=RANKED)
    whole(held.resume(shelves.all(), shelves.recall))
    assert held.players() == late.held.players()
