"""The source as text and syntax, parsed once for all rules that look at it."""

import ast
from functools import cache
from pathlib import Path

import equipoise

SOURCE = Path(equipoise.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def text_of(path):
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path):
    """The syntax of a file."""
    return ast.parse(text_of(path))


@cache
def nodes(path):
    """Everything in the syntax of a file."""
    return list(ast.walk(tree_of(path)))
