"""The calibrations at hand, and which of them a game is rated by.

A calibration holds for one engine, limit and gain, and for games of one pace: players err more when
they have less time. A game is rated by the calibration of its own pace, else by that of a
neighbouring pace (the slower of two), which is then said; a blitz game is never rated as if it were
classical.

Where none holds for the engine or the limit, those learned with the engine of the reference
positions may be transferred (``live.ratings.calibration.engine_transfer``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from live.events import GainKind
from live.ratings.calibration.engine_transfer import (
    MeasuredEngine,
    ReferenceSet,
    Transfer,
    TransferTerms,
)
from live.ratings.calibration.move_evidence import Calibration, EvidenceSums
from live.ratings.pace_of_play import PACES, Pace

#: A neighbouring pace still says something; beyond that nothing does.
_FURTHEST = 1


class CalibrationChoice(NamedTuple):
    """What rates one game."""

    weigher: EvidenceSums | None = None
    note: str = ""
    """For people: what of the choice is provisional, or why there is none; empty where all fits."""

    @property
    def calibration(self) -> Calibration | None:
        return self.weigher.calibration if self.weigher else None

    @property
    def key(self) -> tuple[str, bool] | None:
        """Games of the same key may be pooled: one calibration, and as sure that it fits."""
        calibration = self.calibration
        return None if calibration is None else (calibration.name, bool(self.note))

    @property
    def told(self) -> str:
        """For people: that it is transferred, then the note."""
        transferred = self.weigher is not None and self.weigher.transfer is not None
        return "; ".join(filter(None, ("transferred" if transferred else "", self.note)))


class CalibrationShelf:
    """Calibrations that hold for the engine, limit and gain in use, or are transferred to them.

    Args:
        calibrations: the first of a pace is the one taken for it.
        by_name: somebody named the one there is, so that it rates every game.
        note: for people, why there is none, or what the first was learned from.
        transfer: how they read the scores in use; None where they were learned from such scores.
    """

    __slots__ = ("_by_name", "_by_pace", "_weighers", "note", "transfer")

    def __init__(
        self,
        calibrations: Iterable[Calibration] = (),
        *,
        by_name: bool = False,
        note: str = "no calibration",
        transfer: Transfer | None = None,
    ) -> None:
        self._weighers = tuple(EvidenceSums(each, transfer) for each in calibrations)
        self.transfer = transfer
        self._by_name = by_name
        self.note = note
        self._by_pace: dict[Pace, EvidenceSums] = {}
        for weigher in self._weighers:
            pace = weigher.calibration.time_control
            for known in PACES:
                if pace == known:
                    self._by_pace.setdefault(known, weigher)

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        """All of them, the usual one first."""
        return tuple(weigher.calibration for weigher in self._weighers)

    def choose(self, pace: Pace | None) -> CalibrationChoice:
        """What rates a game of this pace; None where the pace is unknown."""
        if not self._weighers:
            return CalibrationChoice(note=self.note)
        first = self._weighers[0]
        if self._by_name:
            return CalibrationChoice(first, self._said_of_named(first.calibration, pace))
        if pace is None:
            held = first.calibration.time_control
            return CalibrationChoice(first, f"time control not told: taken as {held}")
        weigher = self._by_pace.get(pace)
        if weigher is not None:
            return CalibrationChoice(weigher)
        at = PACES.index(pace)
        for distance in range(1, _FURTHEST + 1):
            for near in (at + distance, at - distance):
                if 0 <= near < len(PACES) and (found := self._by_pace.get(PACES[near])):
                    return CalibrationChoice(
                        found, f"none for {pace} games; nearest: {PACES[near]}, provisional"
                    )
        return CalibrationChoice(note=f"no calibration for {pace} games")

    @staticmethod
    def _said_of_named(named: Calibration, pace: Pace | None) -> str:
        if pace is None or named.time_control not in PACES or named.time_control == pace:
            return ""
        return f"learned from {named.time_control} games, this one is {pace}"


def fitting_shelf(
    calibrations: Iterable[Calibration],
    engine: str,
    limit: str,
    gain: GainKind,
    *,
    by_name: bool = False,
) -> CalibrationShelf:
    """Those that hold for engine, limit and gain, classical chess before others."""
    tried = list(calibrations)
    held = _in_order(each for each in tried if each.matches(engine, limit, gain))
    if not held:
        mismatch = tried[0].mismatch(engine, limit, gain) if by_name and tried else None
        return CalibrationShelf(note=mismatch or f"none for {engine}, {limit}, {gain} gain")
    return CalibrationShelf(held, by_name=by_name, note=learned_from(held[0]))


def transferred_shelf(
    calibrations: Iterable[Calibration],
    reference: ReferenceSet,
    gain: GainKind,
    terms: TransferTerms,
    measured: MeasuredEngine | None,
    *,
    by_name: bool = False,
    note: str,
) -> CalibrationShelf:
    """Those learned with the engine of the reference positions, for another engine or limit.

    ``measured`` None: it is not measured yet, and read as any engine is. ``note`` says why none
    holds by itself.
    """
    tried = list(calibrations)
    held = _in_order(
        each for each in tried if each.matches(reference.engine, reference.limit, gain)
    )
    if not held:
        return CalibrationShelf(note=note)
    if measured is not None and measured.refusal:
        return CalibrationShelf(note=f"{note}; {measured.refusal}")
    transfer = terms.unmeasured if measured is None else measured.transfer(terms)
    return CalibrationShelf(
        held,
        by_name=by_name,
        note=f"{told_of_transfer(transfer, reference)}; {learned_from(held[0])}",
        transfer=transfer,
    )


def told_of_transfer(transfer: Transfer, reference: ReferenceSet) -> str:
    """How well a transfer does, for people."""
    source = f"transferred from {reference.engine}, {reference.limit}"
    share = f"a move counts {transfer.weight:.0%}"
    if transfer.correlation is None:
        return f"{source}, not measured yet: intervals are wider, {share}"
    return (
        f"{source}: correlation {transfer.correlation:.3f} and scale {transfer.scale:.2f} over "
        f"{transfer.positions} reference positions, {share}"
    )


def _in_order(calibrations: Iterable[Calibration]) -> list[Calibration]:
    return sorted(calibrations, key=lambda each: (each.time_control != "classical", each.name))


def learned_from(calibration: Calibration) -> str:
    """For people."""
    return f"learned from {calibration.games} player-games, {calibration.time_control}"
