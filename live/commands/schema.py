"""The command ``live-rate schema``."""

import typer


def schema(*, http: bool = False) -> None:
    """Print the messages to subscribers and brokers as an AsyncAPI 3 document.

    Options:
        http: The requests instead, as an OpenAPI 3.1 document.
    """
    import msgspec

    from live.server.asyncapi import describe_messages
    from live.server.routes import describe_api

    document = msgspec.json.encode(describe_api() if http else describe_messages())
    typer.echo(msgspec.json.format(document, indent=2).decode())
