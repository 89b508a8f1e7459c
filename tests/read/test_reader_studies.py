"""Files of iMRMC and MRMCaov, in and out: the same readings, the same AUROC of every reader."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from equipoise import read_annotations
from equipoise.read.reader_studies import write_reader_study
from equipoise.study.analyses.readers import arms_finding
from equipoise.study.reader_arms import baseline_first
from equipoise.types import InputError

READERS, CASES = ("1", "2", "3", "4"), 60
ARMS = ("cine", "spin")


@pytest.fixture
def readings():
    """Ratings from 1 to 5 by reader, modality and case, and the truth."""
    random = np.random.default_rng(5)
    truth = np.arange(CASES) % 3 == 0
    rows = [
        (reader, f"c{case}", arm, int(np.clip(round(3 + (0.8 + 0.4 * a) * (2 * sick - 1)
         + random.normal()), 1, 5)))
        for reader in READERS
        for a, arm in enumerate(ARMS)
        for case, sick in enumerate(truth)
    ]  # fmt: skip
    return rows, {f"c{case}": int(sick) for case, sick in enumerate(truth)}


def as_files(folder, readings):
    """The four files that such a study may be."""
    rows, truth = readings
    lines = [",".join(map(str, row)) for row in rows]
    by_truth = [f"-1,{case},0,{sick}" for case, sick in truth.items()]
    sizes = "Van Dyke\n\nNR: 4\nN0: 40\nN1: 20\nNM: 2\n\nBEGIN DATA:\n"
    (folder / "study.imrmc").write_text(sizes + "\n".join([*by_truth, *lines]) + "\n")
    named = [line.replace("-1,", "truth,").replace(",0,", ",truth,") for line in by_truth]
    head = "readerID,caseID,modalityID,score"
    (folder / "frame.csv").write_text("\n".join([head, *named, *lines]) + "\n")
    head = "reader,treatment,case,truth,rating"
    aov = [f"{r},{m},{c},{truth[c]},{x}" for r, c, m, x in rows]
    (folder / "aov.csv").write_text("\n".join([head, *aov]) + "\n")
    return [folder / name for name in ("study.imrmc", "frame.csv", "aov.csv")]


def test_every_format_is_the_same_study_with_the_auroc_of_its_ratings(tmp_path, readings):
    rows, truth = readings
    for path in as_files(tmp_path, readings):
        votes = read_annotations(path)
        assert votes.arms == ARMS and votes.gold.sum() == CASES
        finding = arms_finding(votes)
        without, values = baseline_first(ARMS)[0], {}
        for row in finding.tables[1].rows:
            values[row["reader"], without] = row["reader_value"]
            values[row["reader"], row["competitor"]] = row["value"]
        for reader in READERS:
            for arm in ARMS:
                mine = [(truth[c], x) for r, c, m, x in rows if (r, m) == (reader, arm)]
                expected = roc_auc_score(*zip(*mine, strict=True))
                assert_allclose(values[reader, arm], expected, atol=1e-12)


@pytest.mark.parametrize("ending", [".imrmc", ".mrmcaov.csv"])
def test_what_is_written_is_read_back(tmp_path, readings, ending):
    votes = read_annotations(as_files(tmp_path, readings)[0])
    write_reader_study(tmp_path / f"out{ending}", votes)
    back = read_annotations(tmp_path / f"out{ending}")
    for name in ("items", "annotators", "arms", "classes"):
        assert getattr(back, name) == getattr(votes, name)
    for name in ("item", "annotator", "arm", "label", "is_gold"):
        assert np.array_equal(getattr(back, name), getattr(votes, name))
    opinions = ~votes.gold
    assert_allclose(back.confidence[opinions], votes.confidence[opinions], atol=1e-11)


def test_answers_of_0_and_1_have_no_confidence(tmp_path):
    (tmp_path / "a.csv").write_text(
        "reader,treatment,case,truth,rating\nr1,A,c1,1,1\nr1,A,c2,0,1\nr2,A,c1,1,0\nr2,A,c2,0,0\n"
    )
    votes = read_annotations(tmp_path / "a.csv")
    assert votes.confidence is None and votes.arms is None
    write_reader_study(tmp_path / "b.imrmc", votes)
    text = (tmp_path / "b.imrmc").read_text()
    assert "NR: 2\nN0: 1\nN1: 1\nNM: 1\nBEGIN DATA:\n-1,c1,0,1\n" in text
    assert "r1,c2,reading,1\n" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "readerID,caseID,modalityID,score\ntruth,c,truth,2\nr,c,A,1\n",
            "row 2.*another truth",
        ),
        ("readerID,caseID,modalityID,score\ntruth,c,truth,1\n", "no reading with a score"),
        ("reader,treatment,case,truth,rating\nr,A,c,1,3\ns,A,c,0,3\n", "row 3.*another truth"),
        ("reader,treatment,case,truth,rating\nr,A,,1,3\n", "a blank case"),
    ],
)
def test_what_is_no_reader_study_is_refused(tmp_path, text, words):
    (tmp_path / "study.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_annotations(tmp_path / "study.csv")


def test_a_file_of_imrmc_needs_its_line_and_a_study_to_write_its_standard(tmp_path, readings):
    (tmp_path / "x.imrmc").write_text("NR: 2\n1,2,3,4\n")
    with pytest.raises(InputError, match="BEGIN DATA"):
        read_annotations(tmp_path / "x.imrmc")
    votes = read_annotations(as_files(tmp_path, readings)[0])
    with pytest.raises(InputError, match="items without a reference standard"):
        write_reader_study(tmp_path / "y.imrmc", votes.rows(~votes.gold))


@pytest.mark.parametrize("ending", [".imrmc", ".mrmcaov.csv"])
def test_several_questions_are_a_file_each_and_are_read_back_as_one_study(
    tmp_path, readings, ending
):
    rows, truth = readings
    lines = ["item,annotator,arm,task,label,is_gold"]
    for task, cut in (("oedema", 3), ("T/N 1.5", 4)):
        lines += [f"{c},{r},{m},{task},{int(x >= cut)},0" for r, c, m, x in rows]
        lines += [f"{c},panel,,{task},{sick if cut == 3 else 1 - sick},1"
                  for c, sick in truth.items()]  # fmt: skip
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n")
    votes = read_annotations(tmp_path / "votes.csv")
    paths = write_reader_study(tmp_path / f"out{ending}", votes)
    assert [path.name for path in paths] == [
        f"out.{task}{ending}" for task in ("oedema", "T%2FN 1%2E5")
    ]
    back = read_annotations(paths)
    assert {*back.tasks} == {"oedema", "T/N 1.5"}

    def told(table):
        names = [(table.tasks[t], table.items[i], g) for t, i, g in
                 zip(table.task, table.item, table.gold, strict=True)]  # fmt: skip
        who = ["" if g else (table.annotators[a], table.arms[m]) for a, m, g in
               zip(table.annotator, table.arm, table.gold, strict=True)]  # fmt: skip
        return sorted(map(str, zip(names, who, table.label, strict=True)))

    assert told(back) == told(votes)


def test_a_column_of_questions_has_a_truth_of_each(tmp_path):
    lines = ["reader,treatment,case,truth,rating,task"]
    lines += [f"{r},a,c{c},{(c + t) % 2},{c % 2},q{t}" for r in "xy" for c in range(4)
              for t in range(2)]  # fmt: skip
    (tmp_path / "reads.csv").write_text("\n".join(lines) + "\n")
    votes = read_annotations(tmp_path / "reads.csv")
    gold = {(votes.tasks[t], votes.items[i]): k for t, i, k, g in
            zip(votes.task, votes.item, votes.label, votes.gold, strict=True) if g}  # fmt: skip
    assert gold == {(f"q{t}", f"c{c}"): (c + t) % 2 for t in range(2) for c in range(4)}
    assert votes.gold.sum() == 8
