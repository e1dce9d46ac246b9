"""What everything is measured with, as the settings have it: limits, ways of asking, calibrations.
Part of the composition root.
"""

from __future__ import annotations

from live.config import EngineConfig
from live.engine.cluster.cluster_tls import ClusterTls
from live.engine.search import Limit, SearchOptions
from live.events import GainKind
from live.ratings.calibration.calibration_choice import (
    CalibrationShelf,
    fitting_shelf,
    learned_from,
)
from live.ratings.calibration.move_evidence import load_calibration, shipped
from live.ratings.regan.intrinsic_rating import IntrinsicTable, load_table, shipped_tables


def engine_limit(config: EngineConfig) -> Limit:
    """The limit every search gets; the settings hold exactly one above 0."""
    if config.depth:
        return Limit(depth=config.depth)
    if config.movetime_ms:
        return Limit(movetime_ms=config.movetime_ms)
    return Limit(nodes=config.nodes)


def search_options_of(config: EngineConfig) -> SearchOptions:
    """How searches are asked for."""
    return SearchOptions(
        lines=config.multipv,
        same_depth=config.same_depth or config.adaptive,
        quick=Limit(nodes=config.quick_nodes) if config.quick_nodes else None,
    )


def cluster_tls(config: EngineConfig) -> ClusterTls:
    """How the cluster is talked to."""
    return ClusterTls(config.cluster_ca_file, config.cluster_cert_file, config.cluster_key_file)


def limit_text(config: EngineConfig) -> str:
    """The limit and all else that changes what a search finds: calibrations hold for it."""
    parts = [str(engine_limit(config))]
    if config.multipv > 1:
        parts.append(f"{config.multipv} lines")
    if config.adaptive:
        parts.append("adaptive")
    elif config.same_depth:
        parts.append("same depth")
    if config.syzygy_path:
        parts.append("syzygy")
    return ", ".join(parts)


def fitting(name: str, engine: str, limit: str, gain: GainKind) -> CalibrationShelf:
    """The calibrations to use, with what to say of them, or the reason why none fits.

    ``auto`` takes every shipped one that fits: each game is rated by that of its time control. A
    named one rates every game.
    """
    if name == "none":
        return CalibrationShelf(note="switched off")
    if name == "auto":
        return fitting_shelf(map(load_calibration, shipped()), engine, limit, gain)
    calibration = load_calibration(name)
    mismatch = calibration.mismatch(engine, limit, gain)
    if mismatch is not None:
        return CalibrationShelf(note=mismatch)
    return CalibrationShelf([calibration], by_name=True, note=learned_from(calibration))


def fitting_table(
    name: str, config: EngineConfig, engine: str, limit: str
) -> tuple[IntrinsicTable | None, str]:
    """The table for choices among several lines, and why there is none."""
    if config.multipv == 1:
        return None, "Multi-PV is off ([engine] multipv)"
    if name == "none":
        return None, "switched off"
    if name != "auto":
        table = load_table(name)
        mismatch = table.mismatch(engine, limit)
        return (None, mismatch) if mismatch else (table, "")
    for table in map(load_table, shipped_tables()):
        if table.mismatch(engine, limit) is None:
            return table, ""
    return None, f"no table for {engine}, {limit}: live-rate calibrate --intrinsic makes one"
