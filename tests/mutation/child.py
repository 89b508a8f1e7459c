"""A run of tests in a tree of its own, in a process that is forked for it."""

import os
import sys
from pathlib import Path

OPTIONS = (
    "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "--assert=plain", "--hypothesis-seed=0",
)  # fmt: skip


def run_tests(tree: str, tests: list[str], said: str) -> None:
    """Run pytest in a tree, with its sources first, and exit with its status.

    Parameters
    ----------
    said
        The file that takes what is printed.
    """
    import pytest
    from hypothesis import Phase, settings

    brief = [Phase.explicit, Phase.generate]  # the smallest failing example is of no interest
    settings.register_profile("mutants", phases=brief, database=None)
    settings.load_profile("mutants")
    here = Path(__file__).parent.parent.parent
    shared = here.parent / "shared" / "datasets"
    if shared.is_dir():
        os.environ.setdefault("EQUIPOISE_DATA", str(shared))
    os.environ |= {"PYTHONPATH": f"{tree}/src", "COLUMNS": "400"}
    os.chdir(tree)
    kept = [one for one in sys.path if one and Path(one).resolve() not in (here, here / "src")]
    sys.path[:] = [f"{tree}/src", *kept]
    for name in [one for one in sys.modules if one.partition(".")[0] in ("tests", "equipoise")]:
        del sys.modules[name]
    with Path(said).open("w", encoding="utf-8") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
        status = pytest.main([*OPTIONS, *tests])
        sys.stdout.flush()
    os._exit(int(status))
