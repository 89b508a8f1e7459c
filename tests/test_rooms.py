"""Rooms of the house: how large each may be, and a name that is used once.

A budget only shrinks: a room that has become smaller gets a smaller budget in the same change.
Tokens are counted, not lines, so that packing gains nothing.
"""

import ast
import io
import tokenize
from collections import Counter

from tests.source_code import FILES, SOURCE, nodes, text_of, tree_of

COUNTED = (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)
VAGUE = {
    "one", "made", "told", "said", "known", "found", "own", "given", "kept", "asked", "each",
    "every", "settled",
}  # fmt: skip
SLACK = 1.03  # how far a budget may lie above its room
BUDGETS = {
    "__init__": {"tokens": 305, "files": 1, "classes": 0, "vague names": 0},
    "__main__": {"tokens": 10, "files": 1, "classes": 0, "vague names": 0},
    "clean": {"tokens": 55_500, "files": 24, "classes": 49, "vague names": 3},
    "cli": {"tokens": 42_350, "files": 28, "classes": 15, "vague names": 16},
    "datasets": {"tokens": 11_050, "files": 16, "classes": 6, "vague names": 5},
    "inference": {"tokens": 26_550, "files": 11, "classes": 24, "vague names": 5},
    "kernels": {"tokens": 18_250, "files": 9, "classes": 0, "vague names": 2},
    "metrics": {"tokens": 32_350, "files": 12, "classes": 27, "vague names": 2},
    "read": {"tokens": 58_700, "files": 23, "classes": 30, "vague names": 10},
    "report": {"tokens": 53_350, "files": 21, "classes": 31, "vague names": 15},
    "sets": {"tokens": 13_250, "files": 7, "classes": 10, "vague names": 5},
    "scale": {"tokens": 27_250, "files": 13, "classes": 50, "vague names": 5},
    "study": {"tokens": 142_950, "files": 61, "classes": 95, "vague names": 78},
    "truth": {"tokens": 45_300, "files": 20, "classes": 40, "vague names": 1},
    "types": {"tokens": 30_800, "files": 16, "classes": 48, "vague names": 1},
    "uq": {"tokens": 43_450, "files": 22, "classes": 64, "vague names": 10},
}  # fmt: skip


def room_of(path):
    """The entry of the source in which a file stands."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def tokens_in(text):
    """Names, operators, numbers and texts of a file; comments and layout do not count."""
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type in COUNTED for token in found)


def vague_names(path):
    """Variables and parameters that do not say what they are."""
    bound = [
        node.id if isinstance(node, ast.Name) else node.arg
        for node in nodes(path)
        if isinstance(node, ast.arg)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]
    return [name for name in bound if name in VAGUE]


def sizes():
    """Tokens, files, classes and vague names of every room."""
    rooms = {}
    for path in FILES:
        size = rooms.setdefault(room_of(path), Counter())
        size["tokens"] += tokens_in(text_of(path))
        size["files"] += 1
        size["classes"] += sum(isinstance(node, ast.ClassDef) for node in nodes(path))
        size["vague names"] += len(vague_names(path))
    return rooms


def test_rooms_stay_within_budgets_that_only_shrink():
    now = sizes()
    assert set(now) == set(BUDGETS)
    over, loose = [], []
    for room, budget in BUDGETS.items():
        for measure, most in budget.items():
            size = now[room][measure]
            if size > most:
                over.append(f"{room}: {measure} {size}, budget {most}")
            elif most > SLACK * size + 3:
                loose.append(f"{room}: {measure} {size}, lower the budget of {most}")
    assert over == [] and loose == []


def test_the_source_has_few_rooms():
    assert len({room_of(path) for path in FILES} - {"__init__", "__main__"}) <= 14


def test_a_module_and_what_it_defines_do_not_share_a_name():
    """But for verbs of the command line: a file a verb."""
    shared = []
    for path in (path for path in FILES if room_of(path) != "cli"):
        module = path.parent.name if path.stem == "__init__" else path.stem
        defined = (ast.FunctionDef, ast.ClassDef)
        shared += [
            str(path.relative_to(SOURCE))
            for node in tree_of(path).body
            if isinstance(node, defined) and node.name == module
        ]
    assert shared == []
