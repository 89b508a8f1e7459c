"""Counts with their noun in the right number."""


def counted(number: int, noun: str) -> str:
    """A count with its noun; words after *per* stay as they are.

    Examples
    --------
    >>> counted(1, "annotator"), counted(1200, "annotator"), counted(3, "vote per item")
    ('1 annotator', '1,200 annotators', '3 votes per item')
    """
    head, *rest = noun.split(" ")
    whole = " ".join([head + "s" * (number != 1), *rest])
    return f"{number:,} {whole}"
