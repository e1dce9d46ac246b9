"""What the other methods say of a game or a player: each with its interval, or why it has none."""

from __future__ import annotations

from typing import Annotated

import msgspec


class PluginFigure(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin says of a player, over all games of the event that the player is in."""

    name: str = ""
    """The plugin's; the service writes it."""
    value: float
    low: float | None = None
    high: float | None = None
    """``low`` to ``high``: its 95 % interval, as far as the plugin gives one."""
    digits: Annotated[int, msgspec.Meta(ge=0, le=6)] = 0
    """So many decimals are shown."""
    note: Annotated[str, msgspec.Meta(max_length=300)] = ""
    """For people: what it rests on."""


class ComplexityView(msgspec.Struct, frozen=True, gc=False):
    """How much the engine changed its mind about a position while it searched (Alliot 2017,
    section 3.1).
    """

    stability_cp: float
    """Mean change of the score from one depth to the next."""
    jump_cp: int
    """Largest such change."""
    jump_depth: int | None
    """The depth it came after; null if nothing changed."""


class Share(msgspec.Struct, frozen=True, gc=False):
    """A share of moves, with its 95 % interval (by game where there are several)."""

    share: float | None = None
    low: float | None = None
    high: float | None = None
    moves: int = 0
    """Moves counted: the denominator."""


class Intrinsic(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One player's choices among several lines (Regan and Haworth 2011), from move 9 on, decided
    and repeated positions left out. Holds for one engine, limit and number of lines.

    The z-scores are screening figures: they say where to look, and accuse nobody.
    """

    turns: int
    rating: float | None
    """Elo whose players would have chosen these moves most probably; null where the table does not
    reach."""
    low: float | None
    """95 % interval of the level shown; null for an end beyond the table's reach."""
    high: float | None
    beyond: bool
    """``rating`` lies outside the ratings the table was learned from."""
    move_match: float
    """Share of turns in which the engine's first choice was played."""
    average_difference: float
    """Mean distance of the move played from the best one, pawns, corrected for the size of the
    evaluation."""
    projected_match: float | None
    """The same two for players of this one's own rating; null for the unrated."""
    projected_difference: float | None
    match_z: float | None
    """Standard deviations towards the engine."""
    difference_z: float | None
    table: str
    """Which correspondence of choices and Elo it is by."""
    note: str = "a screening figure: it says where to look, and accuses nobody"


class MoveMethods(msgspec.Struct, frozen=True, kw_only=True):
    """What methods beside Algorithm 4 say of one player's moves. Null is never zero: ``missing``
    says why a figure is null.
    """

    conformance: Share = Share()
    """``p(30 cp)``: share of moves that fall at most 30 centipawns short of the engine's (Alliot
    2017, section 4.2); from move 10 on, forced moves left out."""
    guid_bratko: Share = Share()
    """``p(20 cp)``, where the position is within two pawns of level."""
    ponderated: Share = Share()
    """``p(30 cp)``, each shortfall divided by how far ahead or behind the mover is."""
    first_choice: Share = Share()
    """Share of moves that were the engine's first choice: from move 9 on, forced moves and
    positions decided by more than three pawns left out (after Regan and Haworth 2011)."""
    centipawn_loss: float | None = None
    """Average centipawn loss of the moves scored so far, scores capped at ±1000."""
    accuracy: float | None = None
    """Accuracy of the moves scored so far, in per cent by lichess's published formula."""
    intrinsic: Intrinsic | None = None
    """Choices among several lines; null without Multi-PV."""
    missing: dict[str, str] = {}
    """Why a figure is null, for people, by the figure's name."""


class SideMethods(MoveMethods, frozen=True, kw_only=True):
    """One side of one game."""

    mean_gain_cp: float | None = None


class GameMethods(msgspec.Struct, frozen=True):
    """One game by the methods that need nothing but its own moves."""

    white: SideMethods = SideMethods()
    black: SideMethods = SideMethods()
    expected_score: float | None = None
    """White's, by the difference of conformance (Alliot 2017, section 4.2)."""
    low: float | None = None
    """95 % interval of ``expected_score``."""
    high: float | None = None
    missing: str = ""
    """Why ``expected_score`` is null, for people."""


class PlayerMethods(MoveMethods, frozen=True, kw_only=True):
    """One player over all games of the event."""

    tournament_rating: int | None = None
    """Algorithm 2: whole Elo, from all comparisons of the event, the mean of the rated players
    kept (Ferreira 2012, section 5)."""
    tournament_difference: int | None = None
    """The same as Elo above the mean of those who can be compared (``tournament_group``)."""
    tournament_low: int | None = None
    """95 % interval of ``tournament_rating``, games counted as clusters; where nobody of the group
    is rated, of ``tournament_difference``."""
    tournament_high: int | None = None
    tournament_group: int | None = None
    """Players of one group are linked by games; between groups nothing can be compared."""
    markov_moves: int = 0
    """Moves that count for the Markov predictor; it needs 500 (Alliot 2017, section 4.4.1)."""
