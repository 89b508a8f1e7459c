"""Examples of modules and files of tests are collected together, and no module twice."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = ["src/equipoise/inference/intervals.py", "src/equipoise/scale/disk/evaluation.py"]
TESTS = ["tests/types/test_groups.py"]
LOOK = """
import sys
import pytest

class Look:
    def pytest_collection_finish(self):
        import equipoise.scale.disk, equipoise.inference

        for name, module in list(sys.modules.items()):
            for thing in vars(module).values() if name.startswith("equipoise") else ():
                home = sys.modules.get(getattr(thing, "__module__", None) or "")
                if isinstance(thing, type) and home and home.__name__.startswith("equipoise"):
                    again = getattr(home, thing.__name__, thing)
                    assert again is thing, f"{home.__name__}.{thing.__name__} exists twice"

options = ["-q", "--collect-only", "-p", "no:cacheprovider"]
raise SystemExit(pytest.main([*options, *sys.argv[1:]], plugins=[Look()]))
"""


@pytest.mark.parametrize(
    "files",
    [MODULES, [*MODULES, *TESTS], [*TESTS, *MODULES[::-1]]],
    ids=["alone", "first", "last"],
)
def test_a_module_is_imported_once(files):
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *files],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
