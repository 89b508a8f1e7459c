"""Cleaning is an annex: it uses the core by public modules and names, and these alone."""

import ast

from tests.source_code import FILES, SOURCE, nodes

CORE = {  # what cleaning may import from: rooms with their modules of public names
    "types": {
        "annotations",
        "arrays",
        "findings",
        "notices",
        "numbers",
        "predictions",
        "words",
    },
    "read": {
        "codec",
        "files",
        "headers",
        "options",
        "sources",
        "tables",
        "user_code",
        "writing",
    },
    "metrics": set(),
    "truth": set(),
    "inference": set(),
    "study": {"analyses", "study"},
    "report": {"answer", "page", "run", "text"},
    "scale": {"cells", "engine"},
    "datasets": {"reproduce"},
}


def taken():
    """Modules and names of the core that files of cleaning import: (file, module, name)."""
    for path in FILES:
        if path.is_relative_to(SOURCE / "clean"):
            for node in nodes(path):
                if isinstance(node, ast.ImportFrom) and node.module.startswith("equipoise."):
                    module = node.module.removeprefix("equipoise.")
                    if module.split(".")[0] != "clean":
                        yield from ((path.name, module, name.name) for name in node.names)


def test_cleaning_imports_from_rooms_of_the_core_and_their_public_modules():
    assert sum(1 for _ in taken()) > 50
    for file, module, name in taken():
        room, *inner = module.split(".")
        assert room in CORE, (file, module)
        assert not inner or inner[0] in CORE[room], (file, module, name)


def test_cleaning_imports_no_private_module_or_name():
    private = [
        found
        for found in taken()
        if any(part.startswith("_") for part in (*found[1].split("."), found[2]))
    ]
    assert private == []
