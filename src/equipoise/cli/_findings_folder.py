"""The folder of one analysis: its texts and the record that names them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from equipoise.cli._screen import counted, say


def write_findings(
    folder: Path, mark: str, texts: Mapping[str, str], record: Mapping[str, Any]
) -> None:
    """Write every text and, last, the record with the names of all files."""
    from equipoise.run.text_folder import write_folder

    files = sorted([*texts, mark])
    whole = {**record, "files": files}
    written = json.dumps(whole, indent=1, allow_nan=False) + "\n"
    write_folder(folder, {**texts, mark: written}, mark=mark)
    page = "report.html, " if "report.html" in texts else ""
    say(f"Wrote {folder}: {mark}, {page}{counted(files)}")
