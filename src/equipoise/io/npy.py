"""NumPy files: one plain array in ``.npy``."""

from io import BytesIO
from typing import Any

import numpy as np

from equipoise.arrays import InputError
from equipoise.io.files import Content

ENDINGS = (".npy",)


def read_array(file: Content) -> Any:
    """Read one array; pickled objects are refused."""
    try:
        return np.load(BytesIO(file.data), allow_pickle=False)
    except (ValueError, OSError, EOFError, SyntaxError, MemoryError, OverflowError) as error:
        raise InputError(
            file.name, f"no readable array ({str(error).splitlines()[0]})",
            "an array of numbers saved with numpy.save", "save the array again",
        ) from error  # fmt: skip
