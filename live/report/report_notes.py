"""What the figures of a report mean and what they do not, in plain words. Pure."""

from __future__ import annotations

from live.events import EngineInfo, GainKind
from live.report.printed_figures import plain, whole

SOURCES = {
    "fixed": "set by hand",
    "calibration": "taken from the calibration",
    "field": "measured on the rated players of this event (Algorithm 3)",
}


def notes(engine: EngineInfo, gain: GainKind) -> list[tuple[str, str]]:
    """Term and explanation, in the order of reading; plain text."""
    how = (
        "the score of the move played minus that of the engine's own choice, both searched from "
        "the position before the move; never above 0"
        if gain == "same-search"
        else "the score after the move minus the score before it, from the mover's side"
    )
    return [
        (
            "Engine",
            f"Scores are those of {plain(engine.name)} ({plain(engine.limit)}), which counts as "
            f"{engine.rating} Elo, {SOURCES.get(engine.rating_source, 'as its source says')}.",
        ),
        (
            "Gain",
            f"What a move gained or lost, in pawns: {how}. Losses of 0.30 or more stand beside the "
            "moves.",
        ),
        (
            "Plays like",
            "The Elo at which players of rated games make moves like these, from a calibration: "
            + (plain(engine.calibration_note, 300) or "none fits")
            + "."
            if engine.calibration
            else "Not given: "
            + (plain(engine.calibration_note, 300) or "no calibration fits")
            + ".",
        ),
        (
            "A4, A2",
            "Algorithm 4 of Ferreira (2012) rates each player by these moves alone against the "
            "engine; Algorithm 2 compares all players of the event with each other. They rank "
            "players; their distances are not Elo distances.",
        ),
        (
            "95 %",
            "The interval that holds the true value in 95 of 100 cases. One game says little: its "
            "interval is hundreds of Elo wide. Two players whose intervals overlap cannot be told "
            "apart.",
        ),
        (
            "Form",
            "How far above or below the own rating these moves are. Some Elo hundreds up or down "
            "in one game are nothing unusual.",
        ),
        (
            "p, loss, accuracy",
            "p: share of moves at most 0.30 pawns short of the engine's choice (Alliot 2017). "
            "Loss: average loss of a move in centipawns. Accuracy: lichess's published formula. "
            "Where ~ stands before one of these two, some moves are not scored yet.",
        ),
        (
            "What it is not",
            "None of these figures is an official rating, a performance rating (that goes by "
            "results) or evidence of anything but how close the moves were to one engine's "
            "choices. Quiet positions and well-known openings flatter everybody; wild ones do the "
            "opposite.",
        ),
    ]


def screening(engine: EngineInfo) -> str:
    """What stands above the screening table."""
    return (
        "Screening figures for arbiters only. They say where to look, with how much data, and "
        "accuse nobody: of many players some are far out by chance. A figure alone is never "
        f"evidence. First choices are those of {plain(engine.name)}, {plain(engine.limit)}; moves "
        "1 to 8, forced moves and positions decided by more than three pawns are left out. By "
        "chance: the share of events of this size in which somebody who plays fair gets so far."
    )


def unbounded(engine: EngineInfo) -> str:
    """For charts of Algorithm 4."""
    return f"Algorithm 4, engine {whole(engine.rating)}"
