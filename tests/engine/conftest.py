"""What the engine room's tests share: real engines, scripted engines, positions for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from live.engine.cluster import ClusterTls
from live.engine.engine_discovery import EngineCommand, find_engine
from live.engine.engine_process import EngineTimeouts
from live.engine.search import Position, Search
from live.errors import EngineNotFound

SCRIPT = Path(__file__).with_name("scripted_engine.py")


@pytest.fixture
def scripted() -> Callable[..., EngineCommand]:
    """``scripted("crash")``: a real process that speaks UCI and then does that."""

    def command(mode: str, once: Path | None = None) -> EngineCommand:
        argv = (sys.executable, "-I", "-S", str(SCRIPT), mode, *([str(once)] if once else []))
        return EngineCommand(argv, "scripted", "configured")

    return command


@pytest.fixture
def position() -> Callable[[int], Search]:
    """``position(17)``: a search the scripted engine scores 17."""

    def search(score: int) -> Search:
        return Search(Position(f"4k3/8/8/8/8/8/8/4K2R w - - {score} 60"))

    return search


@pytest.fixture
def brief() -> EngineTimeouts:
    """Patience for engines that answer at once or never; the handshake's covers a busy machine."""
    return EngineTimeouts(floor_s=1.0, slack=1.0, unknown_depth_s=1.0, stop_s=2.0)


@pytest.fixture(scope="session")
def embedded() -> EngineCommand:
    """The embedded engine."""
    try:
        return find_engine(which=lambda name: None, places=())
    except EngineNotFound as error:
        if os.environ.get("CI"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def native(require_program: Callable[[str], str]) -> EngineCommand:
    """Debian's Stockfish."""
    return EngineCommand((require_program("stockfish"),), "for the test", "native")


@pytest.fixture(scope="session")
def tls(
    require_program: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> ClusterTls:
    """A certificate that trusts itself."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = str(folder / "certificate.pem"), str(folder / "key.pem")
    command = [
        *(require_program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt"),
        *("ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
        *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
        *("-out", certificate, "-keyout", key),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return ClusterTls(certificate, certificate, key)
