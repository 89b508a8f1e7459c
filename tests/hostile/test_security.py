"""What SECURITY.md claims, as far as the code itself can show it."""

import ast

import pytest

from tests.source_code import FILES, SOURCE, nodes

ROOT = SOURCE.parents[1]
SAFETY = {"allow_pickle", "weights_only"}
RUNS = {"eval", "exec", "compile", "__import__"}  # as names, not as methods of others
MODULES = {
    *("subprocess", "pickle", "marshal", "shelve", "yaml", "dill", "cloudpickle", "socket"),
    *("urllib", "requests", "http", "ftplib", "xmlrpc", "telnetlib", "code", "pty"),
}
HARMLESS = {"pickle.UnpicklingError", "urllib.parse.quote", "urllib.parse.unquote"}
CONNECTS = {"scale/engine/_clusters.py"}  # to the address that the user typed
SENDS_WORK = {"scale/engine/_worker.py"}  # to workers that the user started or named
OWN_CODE = {"read/user_code.py"}  # a detector that the user names is run


def dotted(node):
    """A name with those it is an attribute of; what else it is of is left out."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def calls(path):
    """Every call of a file: its name, and what it is told about what it may load."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            told = {one.arg: one.value for one in node.keywords if one.arg in SAFETY}
            yield dotted(node.func), {name: ast.unparse(one) for name, one in told.items()}


def imported(path):
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((one.name.partition(".")[0], one.name) for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (
                (node.module.partition(".")[0], f"{node.module}.{one.name}")
                for one in node.names
            )


def problems(path):
    """What a file does that no file of ours may."""
    place = path.name if path.parent.name == "" else path.as_posix()
    for name, keywords in calls(path):
        if name in RUNS or name in ("os.system", "os.popen", "os.execv"):
            yield f"{place} calls {name}"
        if keywords.get("allow_pickle") == "True":
            yield f"{place} allows pickles"
        if name == "np.load" and keywords.get("allow_pickle") != "False":
            yield f"{place} does not refuse pickles"
        if name == "torch.load" and keywords.get("weights_only") != "True":
            yield f"{place} loads more than weights"
    for module, whole in imported(path):
        sent = "pickle" in module and any(place.endswith(one) for one in SENDS_WORK)
        sent |= module == "socket" and any(place.endswith(one) for one in CONNECTS)
        if module in MODULES and whole not in HARMLESS and not sent:
            yield f"{place} imports {whole}"


def test_nothing_of_a_file_is_run():
    assert not [one for path in FILES for one in problems(path)]


@pytest.mark.parametrize(
    "line",
    [
        "eval('1')",
        "import subprocess",
        "from pickle import loads",
        "np.load('x')",
        "np.load('x', allow_pickle=True)",
        "torch.load('x')",
        "torch.load('x', weights_only=False)",
        "os.system('x')",
        "import yaml",
    ],
)
def test_the_search_finds_it(tmp_path, line):
    path = tmp_path / "bad.py"
    path.write_text(line)
    assert list(problems(path))


def test_code_of_the_user_is_run_in_one_place():
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in FILES
        for name, _ in calls(path)
        if name.endswith("exec_module")
    }
    assert found == OWN_CODE


def test_a_template_of_a_file_reaches_no_attribute():
    """Notices are stored with their templates, which somebody may have written anew."""
    from equipoise.types.notices import from_json

    for text in ("{x.__class__}", "{x[0]}", "{x:>999999999}", "{y}", "{", "{0}", "{x!r:{x}}"):
        with pytest.raises((LookupError, ValueError, TypeError, AttributeError)):
            from_json({"code": "odd", "text": text, "about": [], "values": {"x": 1}})


def test_the_policy_of_the_page_allows_no_request():
    from equipoise.report.page import render
    from equipoise.types import Report

    page = render(Report(title="<script src=//x>", findings=()))
    assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
    assert "<script src" not in page and "http-equiv" in page


def test_the_document_names_what_it_is_about():
    said = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for word in (
        "mine.py:Mine",
        "ONNX",
        "allow_pickle=False",
        "weights_only=True",
        "make fuzz",
    ):
        assert word in said
