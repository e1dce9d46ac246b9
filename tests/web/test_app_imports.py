"""What a module of the page takes from another is there: one name too many, and no view appears."""

import re
from pathlib import Path

WEB = Path(__file__).resolve().parents[2] / "live" / "web"
MODULES = [each for each in WEB.rglob("*.js") if "vendor" not in each.relative_to(WEB).parts]
IMPORT = re.compile(r'import\s*\{([^}]*)\}\s*from\s*"(\.[^"]+)"')
EXPORT = re.compile(r"^export\s+(?:async\s+)?(?:function\*?|const|let|class)\s+(\w+)", re.MULTILINE)


def exports(module: Path) -> set[str]:
    """The names that a module of the page gives to others."""
    return set(EXPORT.findall(module.read_text(encoding="utf-8")))


def test_every_imported_name_is_exported() -> None:
    missing = []
    for module in MODULES:
        for names, path in IMPORT.findall(module.read_text(encoding="utf-8")):
            source = (module.parent / path).resolve()
            if "vendor" in source.relative_to(WEB).parts:
                continue
            wanted = {name.split(" as ")[0].strip() for name in names.split(",")} - {""}
            missing += [
                f"{module.relative_to(WEB)}: {path} exports no {name}"
                for name in sorted(wanted - exports(source))
            ]
    assert len(MODULES) > 30
    assert not missing
