"""Messages of the library in the words of the command line.

The library speaks Python (``kind='interval'``, ``against()``); where an option does the same,
the option is named instead.
"""

import re
from collections.abc import Collection, Sequence

from equipoise.arrays import InputError
from equipoise.wording import in_command

OPTIONS = (
    "kind", "layout", "repeats", "on_missing", "prediction_layout", "prior", "task", "labels",
    "metric", "resample",
)  # fmt: skip
ASKING = ("aggregate", "evaluate")  # verbs with --positive and --at-least


def _layout(found: re.Match[str]) -> str:
    """The option for a layout that the user is to choose."""
    return f"--{'prediction-' if found[1] else ''}layout NAME"


def _classes(found: re.Match[str]) -> str:
    """A list of classes as the command line takes it."""
    return "--classes " + ",".join(word.strip(" '") for word in found[1].split(","))


POSITIVE, AT_LEAST = "--positive CLASS", "--at-least VALUE"
QUESTIONS = (
    (r"\bagainst\([^)]*\)", POSITIVE),
    (r"\bpositive=", POSITIVE),
    (r"\bat_least(\([^)]*\))?", AT_LEAST),
)
OTHERS = (
    (r"\bcolumns=\{'([^']*)': '([^']*)'\}", r"--columns \1=\2"),
    (r"\bprediction_columns=\{'([^']*)': '([^']*)'\}", r"--prediction-columns \1=\2"),
    (r"\b(prediction_)?layout=\.\.\.", _layout),
    (r" \(classes=\.\.\., --classes\)", " with --classes A,B,..."),
    (r"\bclasses=(\[\.\.\.\]|\.\.\.)", "--classes A,B,..."),
    (r"\bclasses=\[([^\]]*)\]", _classes),
    (r"\bclasses=", "--classes "),
    (r"\bexchangeable=True", "--exchangeable"),
    (r",? or unit='[\w ]+'", ""),  # every unit is looked at
    (
        r"\bthe prices of an item and of a vote would decide",
        "--price-item and --price-vote would decide",
    ),
    (r"\(\w+=?, (--[\w-]+)\)", r"(\1)"),
    (r"\b([Gg])ive attributes such as", r"\1ive --attributes FILE with columns such as"),
    (r"\bwith kind '(\w+)'", r"with --kind \1"),
    (r"\bthe model '(\w+)'", r"--model \1"),
    (r"(--[a-z-]+ [\w,.-]+) \(\1\)", r"\1"),
    (r",? in Python [A-Z][\w.]*(\([^)]*\))?", ""),  # where an option is named before
    (r"\bkrippendorff_alpha with level='(\w+)'", r"Krippendorff's alpha with --level \1"),
    (r"\bkrippendorff_alpha\b", "Krippendorff's alpha"),
    (r"\bfleiss_kappa\b", "Fleiss' kappa"),
    (r"\b([Ll])ook at panel_size,", r"\1ook at smaller panels,"),
)


def spoken(error: InputError, words: Sequence[str] = ()) -> InputError:
    """The same refusal with options in place of Python, and no list given twice.

    Parameters
    ----------
    words
        What was typed, the verb among it: not every verb has every option.

    Examples
    --------
    >>> print(spoken(InputError("file", "x", "y", "read it with kind='interval'")))
    file: x, expected y; read it with --kind interval
    >>> known = InputError("--model", "'x'", "one of a, b", "known are 'a', 'b'")
    >>> print(spoken(known))
    --model: 'x', expected one of a, b; choose one of these
    """
    asks = any(verb in words for verb in ASKING)
    expected, do = (in_options(part, asks=asks) for part in (error.expected, error.do))
    if do.startswith("known are ") and expected.startswith("one of "):
        do = "choose one of these"
    return InputError(error.where, error.got, expected, do)


def refused(error: InputError, options: Collection[str]) -> InputError:
    """A refusal in the words of a verb that has these options."""
    expected, do = (in_command(one, options) for one in (error.expected, error.do))
    said = InputError(error.where, error.got, expected, do)
    return spoken(said, ASKING if "positive" in options else ())


def in_options(text: str, *, asks: bool = True) -> str:
    """Options in place of Python; `asks` if the verb has --positive and --at-least.

    Examples
    --------
    >>> in_options("say kind='ordinal' with classes=[...] for grades")
    'say --kind ordinal with --classes A,B,... for grades'
    >>> in_options("declare classes=[lowest, ..., highest] (--classes lowest,...,highest)")
    'declare --classes lowest,...,highest'
    >>> in_options("ask about one class with against()")
    'ask about one class with --positive CLASS'
    """
    names = "|".join(OPTIONS)
    text = re.sub(rf"\b({names})=['\"]([\w -]+)['\"]", _option, text)
    for pattern, option in (*OTHERS, *(QUESTIONS if asks else ())):
        text = re.sub(pattern, option, text)
    return text


def of_predictions(error: InputError) -> InputError:
    """The same refusal of a file of predictions, whose options have names of their own.

    Examples
    --------
    >>> error = of_predictions(InputError("m.csv", "x", "y", "say layout='classes'"))
    >>> print(spoken(error))
    m.csv: x, expected y; say --prediction-layout classes
    """
    expected, do = (
        re.sub(r"\b(layout|columns)=", r"prediction_\1=", part)
        for part in (error.expected, error.do)
    )
    return InputError(error.where, error.got, expected, do)


def _option(found: re.Match[str]) -> str:
    """One keyword as an option."""
    return f"--{found[1].replace('_', '-')} {found[2]}"
