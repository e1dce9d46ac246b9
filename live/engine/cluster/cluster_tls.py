"""How a cluster is talked to: its address and its certificates, checked before anything runs."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import msgspec

from live.errors import ConfigError


class ClusterTls(msgspec.Struct, frozen=True):
    """Files for addresses that begin with ``tls://``; empty: Dask's own configuration."""

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""


def security(address: str, tls: ClusterTls) -> Any:
    """Dask's form of it. Needs the extra ``cluster``.

    Raises:
        ConfigError: Dask is not installed, the address lacks its port, or address and certificates
            do not go together. What no retry mends is reported before anything runs.
    """
    require_dask()
    from distributed.comm.addressing import parse_host_port
    from distributed.security import Security

    scheme, _, rest = address.partition("://")
    try:
        parse_host_port(rest)
    except ValueError as error:
        raise ConfigError(
            f"engine.cluster {address}", str(error), f"Write {scheme}://HOST:8786"
        ) from None
    encrypted = scheme in ("tls", "wss")
    if tls != ClusterTls() and not encrypted:
        raise ConfigError(
            f"engine.cluster {address}",
            "is not encrypted, and there are certificates for it",
            f"Write tls://{rest}, or leave out the engine.cluster_…_file settings",
        )
    for setting, name in (
        ("ca_file", tls.ca_file), ("cert_file", tls.cert_file), ("key_file", tls.key_file),
    ):  # fmt: skip
        if name and not Path(name).is_file():
            raise ConfigError(
                f"engine.cluster_{setting} {name}",
                "there is no such file",
                f"Correct the path: it is looked for from {Path.cwd()}",
            )
    secured = Security(**_given(tls))  # type: ignore[no-untyped-call]
    for role in ("client", "worker") if encrypted else ():
        _usable(address, secured, role)
    return secured


def _given(tls: ClusterTls) -> dict[str, Any]:
    """What the settings say in Dask's words; what they leave out, its own configuration says."""
    files = {
        "tls_ca_file": tls.ca_file,
        "tls_client_cert": tls.cert_file,
        "tls_client_key": tls.key_file,
        "tls_worker_cert": tls.cert_file,
        "tls_worker_key": tls.key_file,
    }
    given: dict[str, Any] = {name: file for name, file in files.items() if file}
    return {"require_encryption": True, **given} if given else {}


def _usable(address: str, secured: Any, role: str) -> None:
    """Raises ConfigError where the certificates cannot be used."""
    try:
        context = secured.get_connection_args(role)["ssl_context"]
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        why = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"engine.cluster {address}",
            f"its certificates cannot be used ({str(why).replace('_', ' ').lower()})",
            "Give a certificate and its unencrypted key, both in PEM",
        ) from None
    if context is None:
        raise ConfigError(
            f"engine.cluster {address}",
            "needs certificates",
            "Set engine.cluster_ca_file, cluster_cert_file and cluster_key_file (--config FILE)",
        )


def require_dask() -> None:
    """Make sure that Dask is there, and quiet.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise ConfigError(
            "engine.cluster", "needs Dask", "pip install 'live-rate[cluster]' brings it"
        ) from None
    # What it says of lost connections we say ourselves.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
