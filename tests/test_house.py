"""One house: one list of analyses, one formatter, and no program that reads our sentences."""

import ast
import re

import pytest

from equipoise.study.analyses.catalogue import ANALYSES
from tests.source_code import FILES, SOURCE, nodes, text_of, tree_of

SENTENCES = {
    "finding", "sentence", "sentences", "note", "methods", "notice", "notices", "reason",
    "left_out", "legend", "caption", "said", "words", "message",
}  # fmt: skip
SEARCHES = {
    "startswith", "endswith", "split", "partition", "rpartition", "find", "index",
    "removeprefix", "removesuffix", "search", "match", "sub", "findall", "fullmatch", "count",
}  # fmt: skip
READS_TEXT = {
    "read": "files of others",
    "datasets": "files of others",
    "metrics": "names that somebody typed",
    "report/page": "markup that is to become XML, and style sheets",
    "types/findings.py": "BibTeX, as authors publish it",
    "cli": "words that somebody typed",
    "scale/engine/_clusters.py": "an address that somebody typed",
    "types/words.py": "names that a spreadsheet would compute",
    "report/text.py": "names that Markdown would slant",
    "types/notices.py": "names of others, which may send escapes to a terminal",
    "types/annotations.py": "names of annotators, which others gave them",
}
DIGITS = re.compile(r"\.\d+[fgeE%]|^%$")
OTHER_NUMBERS = {
    "types/numbers.py": "the formatter",
    "report/page": "coordinates and sizes of a drawing",
    "read/tables.py": "numbers that are names, as a file would spell them",
    "read/options.py": "numbers that are names, as a file would spell them",
    "types/words.py": "the value of an option, as it can be typed",
    "truth/annotation_checks.py": "a proposal for an option, rounded and then a number again",
    "datasets/demo.py": "digits that every machine computes alike",
    "cli/datasets.py": "as many digits as the published table has",
    "study/questions/certainty.py": "cut-offs of which no two may look alike",
}
CATALOGUES = {  # one file for each entry, which the catalogue alone imports
    "truth/__init__.py", "types/__init__.py", "study/analyses/catalogue.py",
    "report/answer/report.py",
    "clean/detectors/__init__.py", "clean/studies/__init__.py",
    "cli/verbs.py", "datasets/__init__.py",
    "inference/__init__.py", "metrics/__init__.py", "report/page/charts.py",
    "datasets/reproduce/__init__.py", "uq/training/methods/__init__.py",
}  # fmt: skip
MOST = {"files": 295, "modules with one importer outside catalogues": 30,
        "dict[str, Any]": 113, "public functions and classes": 1625}  # fmt: skip
CHECKED_HERE = {
    "study/planning/power_analysis.py": "keywords that a caller typed become options here",
    "read/options.py": "keywords that a caller typed become options here",
    "cli/options.py": "keywords that a caller typed become options here",
    "read/codec.py": "JSON becomes a record here, and back",
    "types/notices.py": "JSON becomes a notice here, and back",
    "report/run.py": "JSON becomes a record here, and back",
    "metrics": "parameters that are part of a metric's name",
}


def home(path):
    """Where a file is, as people name it."""
    return path.relative_to(SOURCE).as_posix()


def allowed(path, reasons):
    """Whether a list of exceptions names a file or its package."""
    return any(home(path) == place or home(path).startswith(f"{place}/") for place in reasons)


def name_of(node):
    """The last name of an expression: x.finding, finding, row["finding"], str(finding)."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    if isinstance(node, ast.Call) and name_of(node.func) == "str" and node.args:
        return name_of(node.args[0])
    return ""


def searches(node):
    """Whether an expression looks for something in a sentence of ours; a full stop is fine."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        words = isinstance(node.left, ast.JoinedStr) or (
            isinstance(node.left, ast.Constant) and " " in str(node.left.value)
        )
        return words and name_of(node.comparators[0]) in SENTENCES
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    stop = (
        node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value in (".", " ")
    )
    of_ours = name_of(node.func.value) in SENTENCES
    by_pattern = name_of(node.func.value) == "re" and any(
        name_of(one) in SENTENCES for one in node.args
    )
    return node.func.attr in SEARCHES and (of_ours or by_pattern) and not stop


def test_no_program_searches_our_sentences():
    hits = {
        f"{home(path)}: {ast.unparse(node)}"
        for path in FILES
        for node in nodes(path)
        if searches(node)
    }
    assert hits == set()


@pytest.mark.parametrize(
    ("code", "wrong"),
    [("'not defined' in result.finding", True), ("re.search('a', str(notice))", True),
     ("notice.text.split('; ')", False), ("row['reason'].startswith(name)", True),
     ("sentence.removesuffix('.')", False), ("'ranking' in words", False)],
)  # fmt: skip
def test_a_search_of_a_sentence_is_noticed(code, wrong):
    assert searches(ast.parse(code).body[0].value) is wrong


def test_regular_expressions_read_what_others_wrote():
    imports = (ast.Import, ast.ImportFrom)
    own = [
        home(path)
        for path in FILES
        if not allowed(path, READS_TEXT)
        for node in nodes(path)
        if isinstance(node, imports) and "re" in [one.name for one in node.names]
    ]
    assert own == []


def test_analyses_are_listed_once():
    lists = [
        home(path)
        for path in FILES
        for node in nodes(path)
        if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.Assign)
        and len(strings(node) & set(ANALYSES)) >= 5
        and name_of(getattr(node, "targets", [None])[0]) != "__all__"
    ]
    assert set(lists) - {"study/analyses.py"} == {
        "study/analyses/catalogue.py"
    }  # its names are public


def strings(node):
    """Texts in an expression."""
    found = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
    return {one for one in found if isinstance(one, str)}


def refusals(path):
    """Everything within an InputError: it tells the user's own number, with its digits."""
    calls = [one for one in nodes(path) if isinstance(one, ast.Call)]
    errors = [one for one in calls if name_of(one.func) in ("InputError", "ValueError")]
    return {id(part) for error in errors for part in ast.walk(error)}


def digits_in(node):
    """Whether an expression writes a number with so many digits."""
    spec = node.format_spec if isinstance(node, ast.FormattedValue) else None
    return spec is not None and any(DIGITS.search(text) for text in strings(spec))


def test_numbers_for_people_are_written_by_one_module():
    hits = set()
    for path in (one for one in FILES if not allowed(one, OTHER_NUMBERS)):
        about_input = refusals(path)
        found = [node for node in nodes(path) if digits_in(node)]
        hits |= {
            f"{home(path)}: {ast.unparse(one)}" for one in found if id(one) not in about_input
        }
    assert hits == set()


def imported():
    """Names that a file takes from another package: (module, name)."""
    taken = set()
    for path in FILES:
        own = home(path).partition("/")[0]
        for node in nodes(path):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split(".")[1:]
                if parts and parts[0] != own.removesuffix(".py"):
                    taken |= {("/".join(parts), one.name) for one in node.names}
    return taken


def test_no_untyped_facts_cross_a_package():
    taken, hits = imported(), []
    for path in (one for one in FILES if not allowed(one, CHECKED_HERE)):
        for node in tree_of(path).body:
            if isinstance(node, ast.FunctionDef) and any(
                name == node.name and home(path).startswith(module) for module, name in taken
            ):
                notes = [one.annotation for one in node.args.args + node.args.kwonlyargs]
                words = [ast.unparse(one) for one in (*notes, node.returns) if one is not None]
                if any(re.search(r"(dict|Mapping)\[str, Any\]", one) for one in words):
                    hits.append(f"{home(path)}: {node.name}")
    assert hits == []


def modules():
    """Every module by its dotted name."""
    dotted = {path: home(path).removesuffix(".py").replace("/", ".") for path in FILES}
    return {
        f"equipoise.{name}".removesuffix(".__init__"): path for path, name in dotted.items()
    }


def importers():
    """Files that import each module; a catalogue may name it as text."""
    known = modules()
    found = {name: set() for name in known}
    for path in FILES:
        for node in nodes(path):
            names = [node.value] if isinstance(node, ast.Constant) else []
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            if isinstance(node, ast.ImportFrom):
                full = [f"{node.module}.{one.name}" for one in node.names]
                names = [one if one in known else node.module for one in full]
            for name in (one for one in names if isinstance(one, str) and one in known):
                found[name].add(home(path))
    return {home(known[name]): files for name, files in found.items()}


def public_names(path):
    """Functions and classes of a file that do not begin with an underscore."""
    defined = [
        one for one in tree_of(path).body if isinstance(one, ast.FunctionDef | ast.ClassDef)
    ]
    return [one.name for one in defined if not one.name.startswith("_")]


def counts():
    """The measures of the house."""
    alone = [
        name
        for name, files in importers().items()
        if len(files) == 1 and not files & CATALOGUES and not name.endswith("__init__.py")
    ]
    texts = [text_of(path) for path in FILES]
    return {
        "files": len(FILES),
        "modules with one importer outside catalogues": len(alone),
        "dict[str, Any]": sum(text.count("dict[str, Any]") for text in texts),
        "public functions and classes": sum(len(public_names(path)) for path in FILES),
    }


def test_the_house_does_not_grow_unnoticed():
    """Merge what is one idea first; where it is not, raise the figure in the same change."""
    now = counts()
    assert {name: now[name] for name in MOST if now[name] > MOST[name]} == {}
