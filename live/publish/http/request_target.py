"""The first line of a request: its path and query, decoded. Pure."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit


class BadRequestTarget(ValueError):
    """A request target that is no path."""


def read_target(target: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Path and query of a request target, decoded.

    Raises:
        BadTarget: not an absolute path, or not UTF-8 once decoded.
    """
    if not target.startswith("/"):
        raise BadRequestTarget(target)
    try:
        # "//host/…" would be taken for a host by urlsplit; as a path it is just odd.
        parts = urlsplit("http://host" + target)
        path = unquote(parts.path, errors="strict")
        query = parse_qsl(parts.query, keep_blank_values=True, errors="strict", max_num_fields=128)
    except ValueError as error:
        raise BadRequestTarget(target) from error
    return path, tuple(query)
