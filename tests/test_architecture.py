"""The rules of the house, checked."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from equipoise import datasets, metrics
from equipoise import truth as aggregate
from equipoise.datasets import reproduce
from equipoise.study.analyses.catalogue import ANALYSES
from tests.source_code import FILES, SOURCE, nodes, text_of, tree_of
from tests.strategies import law_of_all

ROOT = Path(__file__).parent.parent
HEAVY = {
    "numba",
    "pandas",
    "polars",
    "scipy.stats",
    "matplotlib",
    "torch",
    "sklearn",
    "pyarrow",
}
LAZY = ("utils", "helpers", "base", "manager", "common")
every_file = law_of_all(FILES, lambda path: str(path.relative_to(SOURCE)))


def functions(path):
    return [node for node in nodes(path) if isinstance(node, ast.FunctionDef)]


def loaded_by(code):
    script = f"import sys; {code}; print(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code", ["import equipoise", "import equipoise.cli", "import equipoise.metrics"]
)
def test_importing_is_light(code):
    assert not HEAVY & loaded_by(code)


def lines_of_code(path):
    """Lines that are neither blank nor part of a docstring."""
    documented = [
        node.body[0]
        for node in nodes(path)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and ast.get_docstring(node)
    ]
    words = sum(one.end_lineno - one.lineno + 1 for one in documented)
    return sum(bool(line.strip()) for line in text_of(path).splitlines()) - words


@every_file
def test_files_functions_and_signatures_stay_short(path):
    assert lines_of_code(path) <= 600
    for node in functions(path):
        body = node.body[1:] if ast.get_docstring(node) else node.body
        length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
        verb = path.parent.name == "cli" and not node.name.startswith("_")
        assert length <= 60 or verb, f"{node.name} has {length} lines"
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        named = [a for a in arguments if a.arg not in ("self", "cls")]
        assert len(named) <= 6 or verb, f"{node.name} has {len(named)} parameters"


@every_file
def test_names_say_something(path):
    words = set(re.split(r"[._/]", str(path.relative_to(SOURCE))))
    classes = [node.name.lower() for node in nodes(path) if isinstance(node, ast.ClassDef)]
    for lazy in LAZY:
        assert lazy not in words
        assert not any(name.endswith(lazy) for name in classes)


@every_file
def test_every_module_and_public_function_explains_itself(path):
    tree = tree_of(path)
    assert ast.get_docstring(tree)
    scopes = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for node in (one for scope in scopes for one in scope.body):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), node.name


@every_file
def test_no_unfinished_or_silenced_code(path):
    text = text_of(path)
    marks = ("NotImplementedError", "TODO", "FIXME", "XXX", "type: ignore", "noqa", "HAS_")
    assert not [mark for mark in marks if mark in text]


@every_file
def test_only_kernels_import_numba_and_no_global_random_state(path):
    text = text_of(path)
    if "kernels" not in path.parts:
        assert not re.search(r"^\s*(import|from) numba", text, re.MULTILINE)
    assert not re.search(r"np\.random\.(seed|rand|randn|randint|choice|shuffle)\(", text)


@every_file
def test_kernels_are_cached(path):
    if "kernels" not in path.parts:
        return
    assert all("cache=True" in call for call in re.findall(r"njit\(.*", text_of(path)))


def test_every_kernel_file_has_a_slow_twin_and_a_benchmark():
    names = {path.stem for path in (SOURCE / "kernels").glob("*.py")} - {"__init__"}
    oracles = "".join(p.read_text() for p in (ROOT / "tests").rglob("*.py"))
    bench = "".join(p.read_text() for p in (ROOT / "benchmarks").glob("*.py"))
    for name in names:
        assert f"equipoise.kernels.{name}" in oracles, f"no twin for {name}"
        assert f"equipoise.kernels.{name}" in bench, f"no benchmark for {name}"


def is_metric(thing):
    """Whether it is a plain function that has its metric."""
    return inspect.isfunction(thing) and "metric" in vars(thing)


def test_every_metric_is_in_the_catalogue():
    files = [p for p in (SOURCE / "metrics").glob("*.py") if not p.stem.startswith("_")]
    modules = [sys.modules[f"equipoise.metrics.{path.stem}"] for path in files]
    makers = {name for module in modules for name in vars(module) if name[0] != "_"}
    made = {name.removesuffix("_metric") for name in makers if name.endswith("_metric")}
    plain = {name for module in modules for name, x in vars(module).items() if is_metric(x)}
    assert made | plain == set(metrics.CATALOGUE)
    assert {name for name in makers if name.endswith("_curve")} == set(metrics.CURVES)


def test_every_aggregation_model_is_in_the_catalogue_and_explains_itself():
    assert set(aggregate.MODELS) - {"normal"} == set(aggregate.CATALOGUE)
    for name, model in aggregate.MODELS.items():
        assert getattr(aggregate, name) is model.fit
        text = sys.modules[model.fit.__module__].__doc__
        assert ":math:" in text or ".. math::" in text
        assert re.search(rf">>> .*\b{name}\(", text)


@pytest.mark.parametrize("name", [*metrics.CATALOGUE, *metrics.CURVES])
def test_every_metric_states_its_formula_and_an_example(name):
    text = sys.modules[getattr(metrics, name).__module__].__doc__
    assert re.search(rf"`{name}`.*\.\. math::", text, re.DOTALL)
    assert re.search(rf">>> .*\b{name}\(", text)


def test_every_data_set_and_reproduction_is_in_its_catalogue():
    folder = Path(datasets.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert files - {"demo"} == set(datasets.CATALOGUE) == set(datasets.LOADERS)
    files = {path.stem for path in (folder / "reproduce").glob("*.py") if path.stem[0] != "_"}
    modules = {name.rpartition(".")[2] for name in reproduce.CATALOGUE.values()}
    assert files <= modules == {name.replace("-", "_") for name in reproduce.CATALOGUE}


def test_the_project_speaks_of_itself_alone():
    words = re.compile(r"/[w]ork/|/[h]ome/|[.][l]ibrary|DEVELOPER[S][.]md")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = listed.stdout.splitlines() or [str(p.relative_to(ROOT)) for p in FILES]
    for name in names:
        path = ROOT / name
        if (
            path.suffix in {".py", ".md", ".toml", ".css", ".js", ".json", ""}
            and path.is_file()
        ):
            found = words.search(path.read_text(encoding="utf-8", errors="ignore"))
            assert found is None, name


def test_every_analysis_has_its_line_in_the_decision_on_analyses():
    text = (ROOT / "docs/adr/0029-which-analyses-stay.md").read_text("utf-8")
    assert [name for name in ANALYSES if f"`{name}`" not in text] == []
