"""What everything is measured with, as the settings have it: limits, ways of asking, calibrations.
Part of the composition root.
"""

from __future__ import annotations

from live.config import EngineConfig
from live.engine.asking import Asking
from live.engine.encryption import Tls
from live.engine.search import Limit
from live.events import GainKind
from live.ratings.calibration import load_calibration, shipped
from live.ratings.intrinsic import IntrinsicTable, load_table, shipped_tables
from live.ratings.shelf import Shelf, fitting_shelf, learned_from


def engine_limit(config: EngineConfig) -> Limit:
    """The limit every search gets; the settings hold exactly one above 0."""
    if config.depth:
        return Limit(depth=config.depth)
    if config.movetime_ms:
        return Limit(movetime_ms=config.movetime_ms)
    return Limit(nodes=config.nodes)


def engine_asking(config: EngineConfig) -> Asking:
    """How searches are asked for."""
    return Asking(
        lines=config.multipv,
        same_depth=config.same_depth or config.adaptive,
        quick=Limit(nodes=config.quick_nodes) if config.quick_nodes else None,
    )


def cluster_tls(config: EngineConfig) -> Tls:
    """How the cluster is talked to."""
    return Tls(config.cluster_ca_file, config.cluster_cert_file, config.cluster_key_file)


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


def fitting(name: str, engine: str, limit: str, gain: GainKind) -> Shelf:
    """The calibrations to use, with what to say of them, or the reason why none fits.

    ``auto`` takes every shipped one that fits: each game is rated by that of its time control. A
    named one rates every game.
    """
    if name == "none":
        return Shelf(note="switched off")
    if name == "auto":
        return fitting_shelf(map(load_calibration, shipped()), engine, limit, gain)
    calibration = load_calibration(name)
    mismatch = calibration.mismatch(engine, limit, gain)
    if mismatch is not None:
        return Shelf(note=mismatch)
    return Shelf([calibration], by_name=True, note=learned_from(calibration))


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
