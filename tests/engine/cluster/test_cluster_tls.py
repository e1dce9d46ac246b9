"""Address and certificates of a cluster: what does not go together is said before anything runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from live.engine.cluster import ClusterTls, DaskCluster, security, work
from live.engine.engine_discovery import EngineCommand
from live.engine.uci import UciSettings
from live.errors import ConfigError

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

Scripted = Callable[..., EngineCommand]


def test_tls_files_are_handed_to_dask(tls: ClusterTls) -> None:
    assert not security("tcp://10.0.0.1:8786", ClusterTls()).require_encryption
    given = security("tls://10.0.0.1:8786", tls)
    for role in ("client", "worker"):
        told = given.get_tls_config_for_role(role)
        assert (told["ca_file"], told["cert"], told["key"]) == (
            tls.ca_file, tls.cert_file, tls.key_file,
        )  # fmt: skip
    assert given.require_encryption


def test_what_no_retry_mends_is_told_before_anything_runs(
    tls: ClusterTls, tmp_path: Path, scripted: Scripted
) -> None:
    missing, empty = str(tmp_path / "missing.pem"), tmp_path / "empty.pem"
    empty.touch()
    for address, files, said in (
        ("tcp://10.0.0.1", ClusterTls(), "missing port number.*Write tcp://HOST:8786"),
        ("tcp://10.0.0.1:port", ClusterTls(), "Write tcp://HOST:8786"),
        ("tls://10.0.0.1:8786", ClusterTls(), "needs certificates. Set engine.cluster_ca_file"),
        ("tls://10.0.0.1:8786", ClusterTls(tls.ca_file), "needs certificates"),
        ("tcp://10.0.0.1:8786", tls, "is not encrypted.*Write tls://10.0.0.1:8786"),
        (
            "tls://10.0.0.1:8786",
            ClusterTls(tls.ca_file, tls.cert_file, missing),
            "engine.cluster_key_file .*missing.pem: there is no such file.*looked for from /",
        ),
        (
            "tls://10.0.0.1:8786",
            ClusterTls(tls.ca_file, tls.cert_file, str(empty)),
            "certificates cannot be used",
        ),
    ):
        with pytest.raises(ConfigError, match=said):
            DaskCluster(address, files)
        with pytest.raises(ConfigError, match=said):
            asyncio.run(work(address, scripted("well"), UciSettings(), engines=1, tls=files))
