"""The annex of uncertainty uses the core by its public names, and has a list of its own."""

import ast

import pytest

from equipoise import uq
from tests.source_code import FILES, SOURCE, nodes

FRONT_DOORS = ("inference", "metrics", "report", "study", "truth")  # imported as a whole
ANNEX = [path for path in FILES if path.relative_to(SOURCE).parts[0] == "uq"]


def core_imports(path):
    """Names that a file takes from the core: the parts of the module, and the name."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("equipoise"):
            parts = node.module.split(".")[1:]
            if parts[:1] != ["uq"]:
                yield from ((parts, name.name) for name in node.names)


@pytest.mark.parametrize("path", ANNEX, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_the_core_is_used_by_its_public_names(path):
    for parts, name in core_imports(path):
        where = ".".join((*parts, name))
        assert not any(part.startswith("_") for part in (*parts, name)), where
        assert parts[:1] not in [[room] for room in FRONT_DOORS] or len(parts) == 1, where
        assert parts[:1] not in (["cli"], ["clean"], ["kernels"], ["datasets"]), where


def test_public_names_are_listed_and_nothing_else_shows():
    assert dir(uq) == sorted(uq.__all__)
    assert all(getattr(uq, name) is not None for name in uq.__all__)
