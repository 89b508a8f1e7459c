"""Records: dataclasses that cannot be changed once they are made.

``@immutable`` is ``@dataclass(frozen=True)``; what else a dataclass takes is named.

Examples
--------
>>> @immutable
... class Spot:
...     x: float
>>> Spot(1.0)
Spot(x=1.0)
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as immutable
else:
    from dataclasses import dataclass

    def immutable(kind=None, /, **how):
        """Make a record of a class."""
        return dataclass(kind, frozen=True, **how)


__all__ = ["immutable"]
