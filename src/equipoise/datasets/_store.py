"""Where data sets live on this machine, and how they get there."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from importlib.resources import files
from pathlib import Path

from equipoise.read.files import file_sha256
from equipoise.types import Annotations, InputError, Names, Nouns, Predictions, cite, immutable

VARIABLE = "EQUIPOISE_DATA"


@immutable
class File:
    """One file of a data set: where it is published (empty: nowhere), and its hash if known."""

    url: str
    sha256: str


@immutable
class Source:
    """A data set as published.

    Attributes
    ----------
    name, title
        Short name, and what it is.
    files
        By path inside the data set's folder.
    licence, citation
        As the source states them.
    load
        Reads it.
    references
        Keys of its sources in the bibliography.
    folder
        Of the data set in the folder that ``EQUIPOISE_DATA`` names; empty: its name.
    nouns
        What its items, annotators and tasks are called.
    on_missing
        What becomes of items that its published models leave out, unless something else is
        said.
    """

    name: str
    title: str
    files: Mapping[str, File]
    licence: str
    citation: str
    load: Callable[[], "Dataset"] | None = None
    references: Names = ()
    folder: str = ""
    nouns: Nouns = field(default_factory=Nouns)
    on_missing: str = "error"

    @property
    def methods(self) -> str:
        """A sentence for the methods of a paper, with its sources."""
        return (
            f"The data are the public set {self.name} ({self.title}){cite(*self.references)}."
        )

    @property
    def facts(self) -> dict[str, str]:
        """What a record says of it."""
        names = ("name", "title", "licence", "citation")
        return {name: getattr(self, name) for name in names if getattr(self, name)}

    @property
    def published(self) -> bool:
        """Whether every file can be downloaded."""
        return all(file.url for file in self.files.values())


@immutable(eq=False)
class Dataset:
    """What a loader returns.

    Attributes
    ----------
    annotations
        Who said what.
    predictions
        What published models scored; empty when none are published with the data.
    source
        Where it comes from.
    """

    annotations: Annotations
    predictions: tuple[Predictions, ...]
    source: Source


def pinned(name: str) -> dict[str, str]:
    """Hashes by path, from a list beside this file in the form that sha256sum writes."""
    text = files("equipoise.datasets").joinpath(name).read_text(encoding="ascii")
    lines = (line.split(maxsplit=1) for line in text.splitlines())
    return {path: digest for digest, path in lines}


def located(source: Source) -> Path | None:
    """The folder that already holds every file of a data set, or None."""
    for folder in _folders(source):
        if all((folder / path).is_file() for path in source.files):
            return folder
    return None


def fetched(source: Source) -> Path:
    """The folder of a data set, downloaded first when it is nowhere yet; hashes verified."""
    folder = located(source) or _download(source)
    for path, file in source.files.items():
        digest = file_sha256(folder / path)
        if file.sha256 and digest != file.sha256:
            raise InputError(
                f"data set {source.name}, file {folder / path}",
                f"SHA-256 {digest[:12]}...",
                f"{file.sha256[:12]}...",
                "remove the file, so that it is fetched again",
            )
    return folder


def _folders(source: Source) -> Iterator[Path]:
    if root := os.environ.get(VARIABLE):
        yield Path(root) / (source.folder or source.name)
    import pooch

    yield Path(pooch.os_cache("equipoise")) / source.name


def _download(source: Source) -> Path:
    import pooch

    *_, folder = _folders(source)
    place = f"${VARIABLE}/{source.folder or source.name}"
    if not source.published:
        raise InputError(
            f"data set {source.name}",
            f"not here (looked in {_looked(source)})",
            f"{', '.join(source.files)} in {place}",
            f"set {VARIABLE} to the folder that holds {place.partition('/')[2]}/; these files "
            "are not published for download",
        )
    for path, file in source.files.items():
        target = folder / path
        try:
            pooch.retrieve(
                file.url,
                known_hash=f"sha256:{file.sha256}",
                fname=target.name,
                path=target.parent,
            )
        except (OSError, ValueError) as error:
            raise InputError(
                f"data set {source.name}",
                f"{file.url} could not be fetched ({type(error).__name__})",
                f"a download, or the files in {place}",
                f"connect to the network, or set {VARIABLE} to a folder that holds them",
            ) from error
    return folder


def _looked(source: Source) -> str:
    """Where files were looked for, in words."""
    root = os.environ.get(VARIABLE)
    return " and ".join(map(str, _folders(source))) if root else f"no {VARIABLE} is set"
