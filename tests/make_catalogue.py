"""Writes the page's catalogue of figures: ``python -m tests.make_catalogue``."""

import json
from pathlib import Path

from live.catalogue import catalogue_json

PAGE = Path(__file__).resolve().parent.parent / "live" / "web" / "client" / "catalogue.js"


def page_catalogue() -> str:
    """The module that the page imports."""
    rows = json.dumps(json.loads(catalogue_json()), ensure_ascii=False, indent=1)
    said = (
        "Made from live/catalogue.py by `python -m tests.make_catalogue`;"
        " a test holds that it is the same."
    )
    return f"/** {said} */\n\nexport default {rows};\n"


if __name__ == "__main__":
    PAGE.write_text(page_catalogue(), encoding="utf-8")
