"""Whether a configuration lets in more people than was said. Pure."""

from __future__ import annotations

from live.config import ServerConfig
from live.errors import ConfigError
from live.publish.access.origin_policy import is_loopback


def check(config: ServerConfig) -> list[str]:
    """Warnings, one line each, about an address that others can reach.

    Raises:
        ConfigError: others can reach it and nothing says that they may.
    """
    if is_loopback(config.host):
        return []
    if not config.public and not config.tokens_file:
        raise ConfigError(
            f"server.host {config.host}",
            "everybody who reaches this address could read along",
            "Give tokens (server.tokens_file), or set server.public (live-rate --public)",
        )
    warnings = []
    if config.public:
        warnings.append(
            f"whoever reaches {config.host} reads along"
            + (" without scores" if config.hide_scores else ", scores of running games included")
        )
    if config.tokens_file and not config.certificate_file:
        warnings.append(
            "tokens travel in the clear: set server.certificate_file, or put a TLS proxy in front"
        )
    return warnings
