"""Every table by its name, with what makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from live.errors import InputError
from live.studies import (
    alliot_covariance,
    alliot_fits,
    alliot_games,
    alliot_matches,
    alliot_players,
    ferreira_tables,
    open_questions,
)
from live.studies.alliot_players import PAIRINGS, Pairing
from live.studies.regan_table import GROUPINGS, Grouping, regan_table
from live.studies.study_data import Selection, StudyData
from live.studies.study_table import StudyTable

#: In the order of the manual.
TABLES: Final[dict[str, Callable[[StudyData], StudyTable]]] = {
    "matches": ferreira_tables.matches_table,
    "ferreira-1": ferreira_tables.cross_table,
    "ferreira-2": ferreira_tables.event_table,
    "ferreira-3": ferreira_tables.gains_table,
    "ferreira-4": ferreira_tables.engine_table,
    "ferreira-5": ferreira_tables.strengths_table,
    "ferreira-curve": ferreira_tables.curve_table,
    "ferreira-distribution": ferreira_tables.distribution_table,
    "engine-distribution": ferreira_tables.measured_engine_table,
    "engine-gains": ferreira_tables.engine_gains_table,
    "alliot-1": alliot_players.games_table,
    "alliot-4": alliot_games.complexity_table,
    "alliot-5": alliot_matches.prediction_table,
    "alliot-6": alliot_covariance.covariance_table,
    "alliot-best-year": alliot_players.best_year_table,
    "alliot-classes": alliot_players.classes_table,
    "alliot-conformance": alliot_players.conformance_table,
    "alliot-conformance-distribution": alliot_games.shortfall_table,
    "alliot-conformance-results": alliot_games.correlation_table,
    "alliot-convolution": alliot_covariance.convolution_table,
    "alliot-convolution-grid": alliot_covariance.grid_table,
    "alliot-depths": alliot_games.depth_table,
    "alliot-differences": alliot_covariance.difference_table,
    "alliot-evaluations": alliot_games.evaluation_table,
    "alliot-fits": alliot_fits.fits_table,
    "alliot-highest": alliot_games.highest_table,
    "alliot-markov": alliot_players.markov_table,
    "alliot-markov-10": alliot_players.markov_ten_table,
    "alliot-match-conformance": alliot_matches.conformance_table,
    "alliot-matches": alliot_matches.score_table,
    "alliot-outcomes": alliot_covariance.outcomes_table,
    "alliot-royale": alliot_players.royale_table,
    "alliot-stationary": alliot_players.stationary_table,
    "career": alliot_players.career_table,
    "question-colours": open_questions.colours_table,
    "question-engine": open_questions.engine_gap_table,
    "regan": regan_table,
}


#: Tables that no engine has a say in: they are made of games alone.
GAMES_ALONE: Final = frozenset({"matches", "alliot-1"})


#: Tables about games as a whole, whoever plays: ``--player`` and ``--top`` choose nothing there.
#: ``regan`` is about players unless it is grouped by something else.
ALL_PLAYERS: Final = frozenset(
    {
        "engine-gains",
        "alliot-6",
        "alliot-conformance-distribution",
        "alliot-conformance-results",
        "alliot-convolution",
        "alliot-convolution-grid",
        "alliot-depths",
        "alliot-fits",
        "alliot-outcomes",
        "question-colours",
        "question-engine",
    }
)
#: These show all players together, and beside them those named: ``--top`` chooses nothing.
NAMED_PLAYERS: Final = frozenset({"alliot-evaluations", "alliot-highest"})


def flag_without_effect(name: str, selection: Selection, by: str | None = None) -> str:
    """``--player`` or ``--top`` where it was given and this table has no use for it; else empty."""
    if name in ALL_PLAYERS or (name == "regan" and by not in (None, "player")):
        return "--player" if selection.players else "--top" if selection.top else ""
    return "--top" if name in NAMED_PLAYERS and selection.top else ""


def study_table(name: str, data: StudyData, by: str | None = None) -> StudyTable:
    """Make one table. ``by``: what a battle royale is paired by, or what ``regan`` is grouped by.

    Raises InputError for a name or ``by`` that there is not.
    """
    if name not in TABLES:
        raise InputError(name, "is no table", f"Name one of {', '.join(TABLES)}")
    if by is None:
        return TABLES[name](data)
    if name in ("alliot-royale", "alliot-best-year"):
        pairing: Pairing | None = next((each for each in PAIRINGS if each == by), None)
        if pairing is None:
            raise InputError("--by", f"{by!r} pairs nobody", f"Give one of {', '.join(PAIRINGS)}")
        if name == "alliot-royale":
            return alliot_players.royale_table(data, pairing)
        return alliot_players.best_year_table(data, pairing)
    if name == "regan":
        grouping: Grouping | None = next((each for each in GROUPINGS if each == by), None)
        if grouping is None:
            raise InputError(
                "--by", f"{by!r} groups nothing", f"Give one of {', '.join(GROUPINGS)}"
            )
        return regan_table(data, grouping)
    raise InputError("--by", f"says nothing to {name}", "Leave it out")
