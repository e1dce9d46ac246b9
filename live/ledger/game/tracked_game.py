"""One game with everything known about it, and what each news changes for subscribers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from live.engine.search import SearchFailure, SearchOptions, SearchProgress, SearchResult
from live.events import (
    ClockMessage,
    Color,
    Curves,
    GameDetail,
    GameMessage,
    GameMethods,
    GameView,
    Move,
    MoveMessage,
    PlyView,
    ScoreMessage,
    UsualAccuracy,
)
from live.games.game import Game
from live.human.question import HumanAnswer
from live.ledger.calibrations_in_use import CalibrationsInUse, FieldPriors
from live.ledger.game.archived_game import ArchivedDetails, ArchivedSide, ArchivedValues
from live.ledger.game.game_evaluations import (
    EvaluatedPosition,
    QuickAndFull,
    RequestId,
)
from live.ledger.game.game_views import (
    game_view,
    scored,
    unscored,
    with_chances,
    with_others,
)
from live.ledger.game.human_figures import AskedFor, HumanFigures
from live.ledger.game.open_requests import OpenRequests
from live.ledger.game.rated_sides import RatedSides, elos_of
from live.ledger.methods.game_methods import COLORS, GameMethodsState
from live.ledger.outgoing_messages import (
    HumanRequest,
    OutgoingMessages,
    Urgency,
)
from live.ledger.players.player_totals import PlayerTotals
from live.ratings.pace_of_play import SPENT_PLIES


class TrackedGame:
    """Applies news in any order of scores; gains enter the curves in ply order.

    ``engine_scores`` False takes the source's own ``[%eval]`` instead of searches.
    """

    def __init__(
        self,
        game: Game,
        tallies: dict[Color, PlayerTotals],
        *,
        in_use: CalibrationsInUse,
        priors: FieldPriors,
        outgoing: OutgoingMessages,
        engine_scores: bool,
    ) -> None:
        self._outgoing = outgoing
        self.game = game
        self._in_use = in_use
        self._priors = priors
        self._gain = in_use.gain
        self._engine_scores = engine_scores
        self._evaluations = self._nothing_known()
        self._game_methods = GameMethodsState()
        self._human = HumanFigures(game, outgoing) if in_use.human is not None else None
        self._sides = self._seated(tallies)
        self._plies: list[PlyView] = []
        self._provisional: tuple[int, SearchProgress] | None = None
        self._scored = 0
        self._requests = OpenRequests(game.id, outgoing)
        self._given_up: dict[int, str] = {}
        # Whoever watched it run waits for its last scores.
        self._ran = game.result == "*"
        self._shown: GameView | None = None

    @property
    def tallies(self) -> dict[Color, PlayerTotals]:
        """Who plays."""
        return self._sides.tallies

    def _seated(self, tallies: dict[Color, PlayerTotals]) -> RatedSides:
        return RatedSides(
            self.game,
            tallies,
            self._game_methods,
            self._in_use,
            self._priors,
            self._outgoing,
            self._people_at,
        )

    def _people_at(self, index: int) -> HumanAnswer | None:
        return self._human.answer(index) if self._human is not None else None

    def _nothing_known(self) -> QuickAndFull:
        search_options = self._in_use.search_options if self._engine_scores else SearchOptions()
        return QuickAndFull(
            self.game.start_fen,
            chess960=self.game.chess960,
            search_options=search_options,
            gain=self._gain,
        )

    # --- the game changes -----------------------------------------------------------------------

    def begin(self) -> None:
        """Show the game, then its moves."""
        self._take_source_evals(range(1))
        self.show()
        self.play(1, self.game.moves)

    def play(self, from_ply: int, moves: Sequence[Move]) -> None:
        """The game goes ``moves`` from ``from_ply`` on; whatever stood there is gone."""
        self._forget_from(from_ply)
        for ply, move in enumerate(moves, from_ply):
            self._evaluations.extend(move.uci)
            if self._human is not None:
                self._human.extend(move.uci)
            self._plies.append(unscored(ply, move))
            self._outgoing.changes.append(MoveMessage(self.game.id, ply, self._plies[-1]))
        last = from_ply + len(moves)
        self._review_pace(from_ply)
        self._take_source_evals(range(from_ply, last))
        for ply in range(from_ply, last):
            self._refresh(ply)
        # What was head a move ago is backlog now.
        self._settle(range(last - 1, max(from_ply - 3, -1), -1))
        self._ask_about_players()

    def _ask_about_players(self) -> None:
        """Ask what players of these ratings would play; anew where they are others now."""
        if self._human is None:
            return
        if AskedFor.of(self.game) != self._human.asked_for:
            self._human = HumanFigures(self.game, self._outgoing)
            for view in self._plies:
                self._human.extend(view.uci)
            for ply in range(1, len(self._plies) + 1):
                self._refresh(ply)
            # Their figures wait for new answers.
            self._sides.rewind(1)
            self._settle(())
        self._human.ask(running=self.game.result == "*")

    def take_back(self, to_ply: int) -> None:
        """Only the first ``to_ply`` plies stand."""
        self._forget_from(to_ply + 1)
        self._outgoing.changes.append(MoveMessage(self.game.id, to_ply + 1, None))
        self._review_pace(to_ply + 1)
        self._settle((to_ply, to_ply - 1))

    def correct_clocks(self, clocks: Iterable[tuple[int, float | None, float | None]]) -> None:
        first = len(self._plies) + 1
        for ply, clock_s, spent_s in clocks:
            first = min(first, ply)
            view = self._plies[ply - 1]
            self._plies[ply - 1] = msgspec.structs.replace(view, clock_s=clock_s, spent_s=spent_s)
            self._outgoing.changes.append(ClockMessage(self.game.id, ply, clock_s, spent_s))
        if self._review_pace(first):
            self._settle(())
        if first <= SPENT_PLIES:
            self._ask_about_players()

    def _review_pace(self, from_ply: int) -> bool:
        """Clocks from this ply on are others now: if they show another pace, another calibration
        rates the game. Returns whether its curves are to be made anew.
        """
        if from_ply > SPENT_PLIES or self._sides.serves(self.game, self.tallies):
            return False
        self._reseat(self.tallies)
        return True

    def recalibrate(self, in_use: CalibrationsInUse) -> None:
        """Other calibrations rate the game from now on."""
        self._in_use = in_use
        self._reseat(self.tallies)
        self._settle(())

    def _reseat(self, tallies: dict[Color, PlayerTotals]) -> None:
        """Begin the curves anew. What is expected of positions goes by the players' ratings and the
        pace, so the plies are shown anew, too.
        """
        self._sides.leave()
        self._sides = self._seated(tallies)
        for ply in range(1, len(self._plies) + 1):
            self._refresh(ply)

    def reread(self) -> None:
        """The field has changed: send every calibrated figure anew."""
        self._sides.reread(self._evaluations)

    def reread_source_evals(self) -> None:
        """The source corrected its ``[%eval]`` comments; they count only without an engine."""
        if not self._engine_scores:
            self._forget_from(1)
            self._evaluations = self._nothing_known()
            self._take_source_evals(range(1))
            self.play(1, self.game.moves)

    def result_changed(self) -> None:
        """The result changed, and with it how urgent the missing searches are."""
        self._sides.result = self.game.result
        self._sides.enter(self.game)
        self._sides.mend(self._evaluations)
        self._request_missing(range(len(self._plies), -1, -1))
        self.show()

    def set_players(self, tallies: dict[Color, PlayerTotals]) -> None:
        """The headers changed: if the players are others now, or otherwise rated, their gains
        move with them.
        """
        if self._sides.serves(self.game, tallies):
            self._sides.enter(self.game)
            self.show()
        else:
            self._reseat(tallies)
            self._settle(())
        self._ask_about_players()

    def close(self) -> None:
        """The game is gone: nothing of it stays anywhere."""
        self._forget_from(1)
        self._requests.drop_from(0)
        self._sides.leave()

    def _forget_from(self, ply: int) -> None:
        if ply > len(self._plies):
            return
        self._scored -= sum(view.final for view in self._plies[ply - 1 :])
        del self._plies[ply - 1 :]
        if self._provisional is not None and self._provisional[0] >= ply:
            self._provisional = None
        self._given_up = {at: why for at, why in self._given_up.items() if at < ply}
        self._sides.rewind(ply)
        self._evaluations.truncate(ply - 1)
        if self._human is not None:
            self._human.truncate(ply - 1)
        self._game_methods.truncate(ply - 1)
        self._requests.drop_from(ply)

    # --- scores arrive --------------------------------------------------------------------------

    def searched(self, request_id: RequestId, result: SearchResult | SearchFailure) -> None:
        """A search is over. The result of a request no longer open changes nothing."""
        if not self._requests.close(request_id):
            return
        look = self._evaluations.of(request_id.tier)
        if isinstance(result, SearchFailure):
            look.give_up(request_id.kind, request_id.ply)
            if look is self._evaluations and request_id.kind != "replies":
                self._given_up[request_id.ply] = (
                    f"no score at ply {request_id.ply}: {result.reason}"
                )
        elif request_id.kind == "position":
            look.set_position(request_id.ply, EvaluatedPosition.of(result))
        elif request_id.kind == "replies":
            look.set_replies(request_id.ply, result.lines)
        else:
            look.set_played(request_id.ply, result.score)
        if self._provisional is not None and self._provisional[0] == request_id.ply:
            self._provisional = None
        for ply in (request_id.ply, request_id.ply + 1):
            if 1 <= ply <= len(self._plies):
                self._refresh(ply)
                self._sides.revise(self._evaluations, ply)
        self._settle((request_id.ply, request_id.ply + 1))

    def answered(self, request: HumanRequest, answer: HumanAnswer | None) -> bool:
        """The network of human moves answered, or never will; returns whether figures of moves
        that were rated already waited for it.
        """
        if self._human is None or not self._human.answered(request, answer):
            return False
        wanted = self._in_use.human
        if wanted is not None and not self._evaluations.is_forced(request.ply):
            self._evaluations.want_replies(request.ply, wanted.lines, wanted.limit)
        self._show_players(request.ply)
        ply = request.ply + 1
        if ply <= len(self._plies) and self._sides.heard(self._evaluations, ply):
            self._settle((request.ply,))
            return True
        self._request_missing((request.ply,))
        return False

    def answers(self) -> tuple[HumanAnswer | None, ...]:
        """What people would play in each position, as far as that is known."""
        return self._human.answers() if self._human is not None else ()

    def people(self, moves: Sequence[str]) -> Mapping[str, float]:
        """How many players of the mover's rating would play each move after these, by UCI."""
        return self._human.people(moves) if self._human is not None else {}

    def _show_players(self, index: int) -> None:
        """What is known of players at a position shows in the move to it and in the one after."""
        for ply in (index, index + 1):
            if 1 <= ply <= len(self._plies):
                self._refresh(ply)

    def progressed(self, request_id: RequestId, progress: SearchProgress) -> None:
        """A search deepens: shown as provisional, in no histogram."""
        if request_id not in self._requests or request_id.kind != "position" or request_id.ply == 0:
            return
        self._provisional = (request_id.ply, progress)
        self._refresh(request_id.ply)

    def _take_source_evals(self, plies: range) -> None:
        if self._engine_scores:
            return
        for ply in plies:
            reported = self.game.start_eval if ply == 0 else self.game.moves[ply - 1].eval
            self._evaluations.take_source_eval(ply, reported)

    # --- what follows ---------------------------------------------------------------------------

    def _settle(self, plies: Iterable[int]) -> None:
        """Bring curves, requests (of ``plies``) and the shown view up to what is now known."""
        self._sides.result = self.game.result
        self._sides.advance(self._evaluations)
        self._request_missing(plies)
        self.show()

    def _request_missing(self, plies: Iterable[int]) -> None:
        """Request what is missing at ``plies``, most urgent first as they are given."""
        if not self._engine_scores or not self._searchable:
            return
        for ply in plies:
            if 0 <= ply <= len(self._plies):
                self._requests.review(ply, self._urgency(ply), self._evaluations)

    @property
    def _searchable(self) -> bool:
        """False for what cannot be analysed: another variant, or a start nobody could read."""
        supported = self.game.headers.variant in ("standard", "chess960")
        return supported and (bool(self._plies) or self.game.problem is None)

    def _urgency(self, ply: int) -> Urgency:
        if self.game.result != "*":
            return "closing" if self._ran else "finished"
        self._ran = True
        # The gain of the last move needs the position before it as well.
        return "head" if ply >= len(self._plies) - 1 else "backlog"

    @property
    def pending(self) -> int:
        """How many requests and questions are open."""
        return len(self._requests) + (len(self._human) if self._human is not None else 0)

    @property
    def rated(self) -> bool:
        """Whether a figure rests on every move played, or never will."""
        return not self._requests.rating

    # --- what people see ------------------------------------------------------------------------

    def _refresh(self, ply: int) -> None:
        """Show what is known of ``ply``, if that differs from what was shown."""
        shown = self._plies[ply - 1]
        provisional = (
            self._provisional[1] if self._provisional and self._provisional[0] == ply else None
        )
        view = scored(shown, self._evaluations, provisional, self._gain)
        view = with_chances(view, self._sides.results, elos_of(self.game))
        if self._human is not None:
            view = self._human.shown(view, self._evaluations)
        self._game_methods.judge(self._evaluations.at(ply), ply)
        if view != shown:
            self._scored += view.final - shown.final
            self._plies[ply - 1] = view
            self._outgoing.changes.append(ScoreMessage(self.game.id, view))

    def view(self) -> GameView:
        """The game without plies and curves."""
        curves = self._sides.curves
        gains = {color: curves.mean_gain_cp(color) for color in COLORS}
        return game_view(
            self.game,
            self._evaluations,
            curves.head_to_head,
            self._methods(gains),
            self._sides.choice,
            self._sides.note,
            scored=self._scored,
            problem=self.game.problem or self._given_up.get(min(self._given_up, default=0)),
        )

    def _methods(self, mean_gain_cp: dict[Color, float | None]) -> GameMethods:
        methods = self._game_methods.methods(
            self._evaluations, mean_gain_cp, self._in_use, elos_of(self.game)
        )
        white, black = (self._sides.performance(color) for color in COLORS)
        return msgspec.structs.replace(
            methods,
            white=with_others(methods.white, white, self._usual_accuracy("white")),
            black=with_others(methods.black, black, self._usual_accuracy("black")),
        )

    def _usual_accuracy(self, color: Color) -> UsualAccuracy | None:
        return self._human.usual_accuracy(color) if self._human is not None else None

    def detail(self) -> GameDetail:
        """The game in full."""
        return GameDetail(
            **msgspec.structs.asdict(self.view()),
            plies=tuple(self._plies),
            curves=Curves(
                white=self._sides.curves.points("white"),
                black=self._sides.curves.points("black"),
            ),
        )

    def show(self) -> None:
        """Send the view when anything of the view changed."""
        view = self.view()
        if view != self._shown:
            self._shown = view
            self._outgoing.changes.append(GameMessage(view))

    # --- archive --------------------------------------------------------------------------------

    def archive(self) -> tuple[ArchivedValues, ArchivedDetails]:
        """All that is known of it, as values. Searches that are open are not part of it."""
        curves = self._sides.curves
        white, black = (
            ArchivedSide.of(
                self._game_methods.sides[color],
                curves.gains(color),
                curves.calibrated(color),
                self._sides.against(self._evaluations, color),
            )
            for color in COLORS
        )
        values = ArchivedValues(self.game, self.view(), white, black, dict(self._priors.known))
        quick = self._evaluations.quick
        details = ArchivedDetails(
            plies=tuple(self._plies),
            curves=Curves(white=curves.points("white"), black=curves.points("black")),
            full=self._evaluations.look(),
            quick=quick.look() if quick else None,
            judged=self._game_methods.moves,
            given_up=dict(self._given_up),
            human=self.answers(),
        )
        return values, details

    def resume(self, details: ArchivedDetails, shown: GameView) -> None:
        """Restore what was known when it was archived; pooled figures have it already.

        ``shown`` is the view that subscribers hold of it: another calibration may rate the game by
        now.

        Raises:
            ValueError: that was of other moves.
        """
        for move in self.game.moves:
            self._evaluations.extend(move.uci)
            if self._human is not None:
                self._human.extend(move.uci)
        if self._human is not None:
            self._human.learn(details.human)
        self._evaluations.learn(details.full)
        if self._evaluations.quick is not None and details.quick is not None:
            self._evaluations.quick.learn(details.quick)
        self._plies = list(details.plies)
        if self._human is not None:
            for view in self._plies:
                self._human.compare(view, self._evaluations)
        self._scored = sum(view.final for view in self._plies)
        self._game_methods.resume(details.judged, self._evaluations)
        self._sides.resume(self._evaluations, details.curves)
        self._given_up = dict(details.given_up)
        self._shown = shown
