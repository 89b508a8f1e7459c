"""Results of a grid in a few archives, to bring them from one machine to another.

`pack` puts the files that evaluation and resuming need (cells, labels, severities, the
configuration; no weights, no checkpoints) into ``results-1.zip`` and so on; `unpack` puts them
back, after which the same grid goes on from there: baselines whose weights did not travel are
trained again only if a cell that is still missing needs them.
"""

import zipfile
from pathlib import Path

from equipoise.read.files import DAMAGE, require_file
from equipoise.read.writing import replaced
from equipoise.types.arrays import InputError

ARCHIVES, MEGABYTES = 4, 15.0


def pack(out: Path, to: Path, *, most: int = ARCHIVES, size: float = MEGABYTES) -> list[Path]:
    """Bundle results into at most so many archives of at most so many megabytes."""
    files = [*out.glob("*.npz"), *out.glob("*.json")]
    if not files:
        raise InputError(f"{out}", "no results", "the folder of a grid", "check the path")
    limit = size * 1e6 - 50_000  # the directory of an archive takes its share
    loads: list[tuple[float, list[Path]]] = []
    for path in sorted(files, key=lambda one: (-one.stat().st_size, one.name)):
        need = path.stat().st_size
        for place, (taken, held) in enumerate(loads):
            if taken + need <= limit:
                loads[place] = (taken + need, [*held, path])
                break
        else:
            loads.append((need, [path]))
    if len(loads) > most or any(taken > limit for taken, _ in loads):
        total = sum(path.stat().st_size for path in files) / 1e6
        raise InputError(
            f"{out}", f"{total:.1f} MB of results",
            f"what fits {most} archives of {size:g} MB", "pack fewer seeds, or larger archives",
        )  # fmt: skip
    to.mkdir(parents=True, exist_ok=True)
    archives = []
    for number, (_, held) in enumerate(loads, 1):
        archive = to / f"results-{number}.zip"
        with (
            replaced(archive) as file,
            zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as bundle,
        ):
            for path in sorted(held):
                bundle.write(path, path.name)
        archives.append(archive)
    return archives


def unpack(source: Path, out: Path) -> int:
    """Put the files of all archives of a folder in their place; says how many there were."""
    archives = sorted(source.glob("results-*.zip"))
    if not archives:
        raise InputError(f"{source}", "no results-*.zip", "packed results", "check the path")
    out.mkdir(parents=True, exist_ok=True)
    count = 0
    for archive in archives:
        for name, data in _packed(archive).items():
            with replaced(out / name) as file:
                file.write(data)
            count += 1
    return count


def _packed(archive: Path) -> dict[str, bytes]:
    """Files of an archive that `pack` wrote; nothing is trusted that it says of them."""
    again = "pack the results anew"
    require_file(archive)
    try:
        with zipfile.ZipFile(archive) as bundle:
            for one in bundle.infolist():
                plain = one.filename == Path(one.filename).name
                if not plain or Path(one.filename).suffix not in (".npz", ".json"):
                    raise InputError(
                        f"{archive}", f"a file {one.filename!r:.80}", "plain names", again
                    )
                if one.compress_type != zipfile.ZIP_STORED:
                    raise InputError(f"{archive}", "packed files", "files as they were", again)
            return {name: bundle.read(name) for name in bundle.namelist()}
    except InputError:
        raise
    except (OSError, *DAMAGE) as error:
        got = f"cannot be read ({type(error).__name__})"
        raise InputError(f"{archive}", got, "a zip file of results", again) from error
