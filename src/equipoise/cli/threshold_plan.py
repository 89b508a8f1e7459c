"""equipoise threshold plan: which items to send to experts to set a threshold."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from equipoise.cli._plan_key import BINS, PER_BIN, SampleSize, key_of, key_text, write_plan
from equipoise.cli._results import present
from equipoise.cli._screen import progress, say
from equipoise.cli.options import RESULT, AsJson, OutputOptions, command, panel
from equipoise.cli.probabilities import ProbabilitySource, read_probabilities
from equipoise.types.arrays import InputError
from equipoise.types.numbers import count

_sample = panel(
    "Sample",
    bins="Bins of as equal size as possible. Default: 20.",
    per_bin="Items drawn from each bin. Default: 20.",
    seed="Same seed, same items.",
)
_result = panel(
    RESULT,
    out="File for the items, ending in .csv: items in random order, and an empty column "
    "`label` for the expert. Bins, probabilities and options go into a second file beside it, "
    "the key, which experts should not see: plan.csv, plan.key.json.",
    shown="One file and no key: items bin by bin, with bin and probability, which tell the "
    "expert what is expected.",
    overwrite="Replace these files.",
)
BinCount = Annotated[int | None, _sample("bins", min=1)]
ItemsPerBin = Annotated[int | None, _sample("per_bin", min=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SampleOptions:
    """How the sample is drawn."""

    bins: BinCount = None
    per_bin: ItemsPerBin = None
    seed: Annotated[int, _sample("seed", min=0)] = 0

    def size(self) -> SampleSize:
        """Bins and items of each, the usual ones where none were named."""
        return SampleSize(self.bins or BINS, self.per_bin or PER_BIN, self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlanFile:
    """Where the items go."""

    out: Annotated[Path | None, _result("out")] = None
    shown: Annotated[bool, _result("shown", "--open")] = False
    overwrite: Annotated[bool, _result("overwrite", "--overwrite")] = False
    as_json: AsJson = False

    def check(self) -> None:
        """Refuse a file that cannot be written, or that would be lost, before reading."""
        from equipoise.cli.targets import check_target

        check_target("--out", self.out, (".csv",))
        if self.out is not None:
            self._refuse(self.out)

    def check_key(self, key: str) -> None:
        """Refuse to write over the key of another plan; of this one it is a stopped writing."""
        assert self.out is not None
        path = key_of(self.out)
        if not (path.is_file() and path.read_bytes() == key.encode("utf-8")):
            self._refuse(path)

    def _refuse(self, path: Path) -> None:
        if path.exists() and not self.overwrite:
            do = "name another file, or allow overwriting (--overwrite)"
            raise InputError(f"--out {path}", "is there already", "a new file", do)


@command
def threshold_plan(source: ProbabilitySource, drawn: _SampleOptions, output: _PlanFile) -> None:
    """Which items should experts see, so that they can set a threshold?

    Orders items by probability, cuts them into bins of equal size and draws as many from
    each, so that all probabilities are seen. Each expert fills the empty column of a copy of
    the plan, which is blind; `equipoise threshold set FILE --plan plan.key.json` takes the
    copies back in and knows the options from the key.

    Example: equipoise threshold plan votes.csv --truth dawid_skene --out plan.csv

    Example: equipoise threshold plan scores.csv --model resnet --bins 10 --out plan.csv
    """
    from equipoise.study.analyses.thresholds import sampling_plan
    from equipoise.types.findings import Report

    output.check()
    size = drawn.size()
    with progress("reading") as tell:
        read = read_probabilities(source)
        known = read.probabilities
        sample = sampling_plan(known.values, known.items, *size)
        tell(1, 1)
    report = Report(
        title="Which items should experts see?",
        scope=f"Probabilities: {known.source}.",
        findings=(replace(sample.report(), title="Items for the experts"),),
        settings=tuple((name, str(value)) for name, value in size._asdict().items()),
        notices=read.notices,
    )
    if output.out is not None:
        key = None if output.shown else key_text(sample, source, size, read.task)
        if key is not None:
            output.check_key(key)
        write_plan(output.out, sample, read.task, key)
        items = count(len(sample.items))
        say(f"Wrote {output.out}: {items} items; experts fill in the column label")
        if key is not None:
            kept = "bins and probabilities, for threshold --plan; keep it from the experts"
            say(f"Wrote {key_of(output.out)}: {kept}")
    present(report, OutputOptions(as_json=output.as_json), "")
