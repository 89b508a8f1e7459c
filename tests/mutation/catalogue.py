"""The catalogue: every planted bug as data, one TOML file for each part of the product.

A bug has a name and ``file`` (below ``src/equipoise``), ``old`` (text that stands there exactly
once), ``new`` (what it becomes), ``breaks`` (what is wrong then) and, where those that import
the module are not the right ones, ``tests`` (files below ``tests``, or single tests in them).
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SOURCE = Path("src/equipoise")


@dataclass(frozen=True)
class Bug:
    """One planted bug."""

    name: str
    part: str
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The file from the root of the tree."""
        return SOURCE / self.file

    @property
    def module(self) -> str:
        """The module that it is planted in."""
        dotted = ".".join(("equipoise", *Path(self.file).with_suffix("").parts))
        return dotted.removesuffix(".__init__")

    def planted(self, root: Path = ROOT) -> str:
        """The text of the file with the bug; refused where it does not apply exactly once."""
        path = root / self.path
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        times = text.count(self.old)
        if times != 1 or self.old == self.new:
            raise StaleBug(f"{self.name}: its old text stands {times} times in {self.path}")
        return text.replace(self.old, self.new)

    def concerned(self, root: Path = ROOT) -> list[list[str]]:
        """Tests to run: the named ones, or files that import the module; then its examples.

        Examples run by themselves: pytest would put the module in place of what its package
        calls by the same name.
        """
        named = [f"tests/{one}" for one in self.tests] or self._importing(root)
        text = (root / self.path).read_text(encoding="utf-8")
        return [one for one in (named, [str(self.path)] if ">>>" in text else []) if one]

    def _importing(self, root: Path) -> list[str]:
        package, _, last = self.module.rpartition(".")
        whole = rf"^\s*(from|import) {re.escape(self.module)}\b"
        part = rf"^\s*from {re.escape(package)} import .*\b{re.escape(last)}\b"
        wanted = re.compile(f"{whole}|{part}", re.MULTILINE)
        files = sorted((root / "tests").rglob("test_*.py"))
        found = [one for one in files if wanted.search(one.read_text(encoding="utf-8"))]
        return [str(one.relative_to(root)) for one in found]


class StaleBug(Exception):
    """A bug that no longer applies: the code has moved on, and the catalogue must follow."""


def catalogue() -> list[Bug]:
    """Every bug, file by file."""
    found = []
    for path in sorted(HERE.glob("*.toml")):
        for name, bug in tomllib.loads(path.read_text(encoding="utf-8")).items():
            tests = tuple(bug.pop("tests", ()))
            found.append(Bug(name=name, part=path.stem, tests=tests, **bug))
    return found
