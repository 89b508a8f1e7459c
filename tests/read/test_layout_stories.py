"""One study in every layout that people keep: whichever file they bring, the same comes out."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from equipoise import Annotations, evaluate
from equipoise.read.annotations import read_annotations
from equipoise.read.headers import _ANNOTATIONS, _PREDICTIONS
from equipoise.read.options import ScoreFormat
from equipoise.read.predictions import predictions_for, predictions_of, read_predictions
from equipoise.read.sources import sources_of
from equipoise.scale import disk
from equipoise.types import InputError, Predictions

ITEMS = [f"s{number:02d}" for number in range(24)]
READERS = ("ana", "bo", "cy")
TASKS = ("edema", "mass")
RANDOM = np.random.default_rng(5)
VOTES = RANDOM.integers(0, 2, (len(READERS), len(ITEMS), len(TASKS)))
SCORES = RANDOM.random((2, len(ITEMS), len(TASKS))).round(3)
MODELS = ("cnn", "vit")


def tidy(task=slice(None)):
    rows = [
        {"item": item, "annotator": reader, "task": name, "label": int(VOTES[r, i, t])}
        for r, reader in enumerate(READERS)
        for i, item in enumerate(ITEMS)
        for t, name in list(enumerate(TASKS))[task]
    ]
    return pd.DataFrame(rows)


def sentences(table):
    """What it says of every item, whatever the order of rows and codes."""
    task = np.zeros(len(table), int) if table.task is None else table.task
    who = table.annotators or ("?",)
    people = np.zeros(len(table), int) if table.annotator is None else table.annotator
    rows = zip(table.item, people, task, table.label, strict=True)
    return sorted(
        (table.items[i], who[a], table.tasks[t], table.classes[c]) for i, a, t, c in rows
    )


def codes(notices):
    return [one.code for one in notices]


@pytest.fixture
def whole(tmp_path):
    tidy().to_csv(tmp_path / "tidy.csv", index=False)
    return read_annotations(tmp_path / "tidy.csv")


def reader_files(folder, write):
    folder.mkdir()
    for number, reader in enumerate(READERS):
        frame = pd.DataFrame({"Study": ITEMS, **dict(zip(TASKS, VOTES[number].T, strict=True))})
        write(frame, folder / reader)
    return folder


def csv(frame, place):
    frame.to_csv(place.with_suffix(".csv"), index=False)


def parquet(frame, place):
    frame.to_parquet(place.with_suffix(".parquet"), index=False)


def packed(frame, place):
    frame.to_csv(f"{place}.csv.gz", index=False)


@pytest.mark.parametrize("write", [csv, parquet, packed])
def test_one_file_per_reader_with_a_column_per_task(tmp_path, whole, write):
    folder = reader_files(tmp_path / "readers", write)
    table = read_annotations(folder)
    assert sentences(table) == sentences(whole)
    assert (table.annotators, table.tasks) == (READERS, TASKS)
    assert codes(table.notices)[0] == "read_as_tasks"
    asked = read_annotations(sorted(folder.iterdir()), layout="tasks")
    assert sentences(asked) == sentences(whole)
    assert "read_as_tasks" not in codes(asked.notices)


def test_one_file_of_one_reader_and_a_column_of_readers(tmp_path, whole):
    folder = reader_files(tmp_path / "readers", csv)
    alone = read_annotations(folder / "bo.csv", layout="tasks")
    assert alone.annotators == ("bo",)
    assert sentences(alone) == [one for one in sentences(whole) if one[1] == "bo"]
    both = pd.concat(
        pd.read_csv(folder / f"{name}.csv").assign(Reader=name) for name in READERS
    )
    both.to_csv(tmp_path / "all.csv", index=False)
    assert sentences(read_annotations(tmp_path / "all.csv", layout="tasks")) == sentences(whole)


def test_files_without_items_are_numbered_by_row(tmp_path):
    for number, reader in enumerate(READERS):
        np.save(tmp_path / f"{reader}.npy", VOTES[number])
        pd.DataFrame(VOTES[number], columns=TASKS).to_csv(
            tmp_path / f"{reader}.csv", index=False
        )
    files = [tmp_path / f"{reader}.csv" for reader in READERS]
    table = read_annotations(files)
    assert codes(table.notices) == ["read_as_tasks", "items_by_row"]
    arrays = read_annotations([tmp_path / f"{r}.npy" for r in READERS], layout="tasks")
    assert arrays.tasks == ("0", "1")
    assert arrays.items == table.items == tuple(map(str, range(len(ITEMS))))
    assert np.array_equal(arrays.label, table.label)


def test_one_tidy_file_per_reader_and_several_that_name_their_readers(tmp_path, whole):
    for reader, part in tidy().groupby("annotator"):
        part.to_csv(tmp_path / f"{reader}-own.csv", index=False)
        part.drop(columns="annotator").to_csv(tmp_path / f"{reader}.csv", index=False)
    named = read_annotations([tmp_path / f"{reader}-own.csv" for reader in READERS])
    nameless = read_annotations([tmp_path / f"{reader}.csv" for reader in READERS])
    assert sentences(named) == sentences(nameless) == sentences(whole)
    assert codes(nameless.notices) == ["file_is_annotator"]
    twice = [tmp_path / "ana.csv", tmp_path / "bo.csv"]
    frame = pd.read_csv(twice[1])
    pd.concat([frame, frame.head(1)]).to_csv(twice[1], index=False)
    with pytest.raises(InputError, match=r"bo.csv, row 50: item 's00' a second time"):
        read_annotations(twice)


def test_wide_tables_alone_and_split_by_reader(tmp_path):
    single = tidy(slice(0, 1)).drop(columns="task")
    single.to_csv(tmp_path / "tidy.csv", index=False)
    wide = single.pivot(index="item", columns="annotator", values="label").reset_index()
    wide.to_csv(tmp_path / "wide.csv", index=False)
    for reader in READERS:
        wide[["item", reader]].to_csv(tmp_path / f"{reader}.csv", index=False)
    expected = sentences(read_annotations(tmp_path / "tidy.csv"))
    assert sentences(read_annotations(tmp_path / "wide.csv")) == expected
    split = read_annotations([tmp_path / f"{reader}.csv" for reader in READERS])
    assert sentences(split) == expected


def test_the_same_columns_about_different_items_are_not_guessed(tmp_path):
    for part in range(2):
        rows = "".join(f"s{part}{n},{n % 2},1\n" for n in range(6))
        (tmp_path / f"{part}.csv").write_text(f"item,x,y\n{rows}")
    paths = [tmp_path / "0.csv", tmp_path / "1.csv"]
    with pytest.raises(InputError, match=r"say layout='wide' .* layout='tasks'"):
        read_annotations(paths)
    assert read_annotations(paths, layout="wide").annotators == ("x", "y")
    assert read_annotations(paths, layout="tasks").tasks == ("x", "y")


@pytest.mark.parametrize(
    "header",
    [
        "ITEM,ANNOTATOR,TASK,LABEL",
        "Case,Rater,Question,Diagnosis",
        "Image ID,reader_id,task,Grade",
        "epoch,Scorer Name,task,stage",
        "patient,expert,task,score",
    ],
)
def test_headers_without_case_and_by_synonym(tmp_path, whole, header):
    body = tidy().to_csv(index=False, header=False)
    (tmp_path / "votes.csv").write_text(f"# from the archive\n\n{header}\n{body}")
    table = read_annotations(tmp_path / "votes.csv")
    assert sentences(table) == sentences(whole)
    assert codes(table.notices)[0] == "columns_by_synonym"


def test_synonyms_are_lower_case_words_and_each_is_found():
    for known in (_ANNOTATIONS, _PREDICTIONS):
        for words in known.values():
            every = words[0] | words[1]
            assert all(word == word.casefold() and word.isalpha() for word in every)
            assert not words[0] & words[1]
    for ours in ("item", "annotator", "label"):
        for word in _ANNOTATIONS[ours][0] - {"task"}:
            names = {
                "item": "item",
                "annotator": "annotator",
                "label": "label",
                ours: word.title(),
            }
            rows = {names["item"]: ["a", "b"], names["annotator"]: ["x", "y"],
                    names["label"]: ["p", "q"]}  # fmt: skip
            table = Annotations.from_dataframe(pa.table(rows))
            assert (table.items, table.annotators) == (("a", "b"), ("x", "y")), word


def test_two_columns_that_could_be_meant_are_refused():
    rows = {"study": ["a"], "image": ["b"], "rater": ["x"], "label": ["p"]}
    with pytest.raises(InputError, match=r"columns 'study', 'image': both could be the item"):
        Annotations.from_dataframe(pa.table(rows))
    table = Annotations.from_dataframe(pa.table(rows), columns={"item": "image"})
    assert table.items == ("b",)


def test_a_person_called_like_a_label_stays_a_person():
    rows = {"item": ["a", "b"], "rating": ["p", "q"], "rating2": ["p", "p"]}
    assert Annotations.from_dataframe(pa.table(rows)).annotators == ("rating", "rating2")


def test_a_column_of_patients_is_offered_as_groups():
    rows = {"image": ["a"], "rater": ["x"], "label": ["p"], "patient": ["7"]}
    table = Annotations.from_dataframe(pa.table(rows))
    assert table.group is None
    assert "say columns={'group': 'patient'}" in " ".join(map(str, table.notices))


def refused(tmp_path, text, message, **how):
    (tmp_path / "votes.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_annotations(tmp_path / "votes.csv", **how)


def test_nonsense_is_refused(tmp_path):
    six = "1dAVb,RBBB,LBBB\n" + "".join(f"{n % 2},{n % 3 % 2},0\n" for n in range(40))
    refused(tmp_path, six, r"'1dAVb': there is no column 'label', and '0' stands in several")
    body = tidy(slice(0, 1))[["item", "annotator", "label"]].to_csv(index=False, header=False)
    refused(tmp_path, f"foo,bar,baz\n{body}", "'foo': there is no column 'label'")
    refused(tmp_path, body, "first line: .*, expected the names of the columns")
    single = "".join(f"i{n},r1,{'yes' if n % 2 else 'no'}\n" for n in range(20))
    refused(tmp_path, single, "first line: 'r1', 'no', which are values of their own columns")
    once = "".join(f"i{n},{READERS[n % 3]},{'yes' if n % 2 else 'no'}\n" for n in range(20))
    refused(tmp_path, f"foo,bar,baz\n{once}", "column 'bar': no value of another column")
    text = "".join(f"i{n},f{n}.png,{n % 2},{n % 3 % 2}\n" for n in range(30))
    refused(tmp_path, f"key,path,a,b\n{text}", "'path': a different word in almost every row")
    notes = "".join(f"i{n},a note of number {n}\n" for n in range(30))
    refused(tmp_path, f"key,note\n{notes}", "'note': a different word in almost every row")
    refused(tmp_path, "1,1,0\n2,1,1\n", r"columns '1' more than once.*add a header")


def test_explicit_layouts_are_taken_at_their_word(tmp_path):
    (tmp_path / "votes.csv").write_text("item,ana,bo\na,1,0\na,1,1\nb,0,0\n")
    table = read_annotations(tmp_path / "votes.csv", layout="wide")
    assert "repeats_kept" in codes(table.notices)


def test_comments_in_delimited_text(tmp_path):
    text = '# "by" me, on Monday\r\n#\n\nitem,annotator,label\na,x,p\n# a, note\n#1,x,q\nb,x,\n'
    (tmp_path / "votes.csv").write_text(text)
    table = read_annotations(tmp_path / "votes.csv")
    assert table.items == ("#1", "a")
    cut = disk.repartition(tmp_path / "votes.csv", tmp_path / "cut", 1)
    assert read_annotations(cut / "part-00000.parquet").items == ("#1", "a")
    (tmp_path / "votes.csv").write_text(text + "c,x\n")
    with pytest.raises(InputError, match="row 9: 2 fields"):
        read_annotations(tmp_path / "votes.csv")
    (tmp_path / "votes.csv").write_text(text + ",x,p\n")
    with pytest.raises(InputError, match="row 9: a blank item"):
        read_annotations(tmp_path / "votes.csv")


def swapped(items, people, seed=0, noise=0.1):
    """Votes of a panel on many items, with the two columns swapped."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, items)
    rows = [(r, i) for r in range(people) for i in range(items)]
    label = [truth[i] if random.random() > noise else random.integers(0, 3) for _, i in rows]
    return {"item": [f"p{r}" for r, _ in rows], "annotator": [f"q{i}" for _, i in rows],
            "label": label}  # fmt: skip


def test_swapped_columns_are_refused_when_the_votes_say_so():
    rows = swapped(300, 4)
    with pytest.raises(InputError, match="4 items such as 'p0', 'p1' and 300 annotators"):
        Annotations.from_dataframe(pa.table(rows))
    own = {"item": "item", "annotator": "annotator"}
    assert len(Annotations.from_dataframe(pa.table(rows), columns=own).items) == 4
    right = rows | {"item": rows["annotator"], "annotator": rows["item"]}
    assert Annotations.from_dataframe(pa.table(right)).annotators[0] == "p0"


def test_a_poll_of_many_is_said_and_not_refused():
    random = np.random.default_rng(1)
    rows = [(i, p) for i in range(3) for p in range(200)]
    label = [i if random.random() < 0.7 else int(random.integers(0, 3)) for i, _ in rows]
    table = Annotations.from_dataframe(pa.table({
        "item": [f"q{i}" for i, _ in rows], "annotator": [f"v{p}" for _, p in rows],
        "label": label}))  # fmt: skip
    assert "many_annotators" in codes(table.notices)
    few = Annotations.from_dataframe(pa.table(swapped(40, 30)))
    assert "hang on the annotator" in " ".join(map(str, few.notices))


def test_swapped_names_and_headers_are_refused():
    rows = {"item": ["Reader 1", "Reader 2"] * 2, "annotator": ["a", "a", "b", "b"],
            "label": ["p"] * 4}  # fmt: skip
    with pytest.raises(InputError, match="the columns look swapped"):
        Annotations.from_dataframe(pa.table(rows))
    judged = rows | {"annotator": ["rater 1", "rater 1", "rater 2", "rater 2"]}
    assert len(Annotations.from_dataframe(pa.table(judged)).items) == 2
    named = {"case": ["a", "b"], "rater": ["x", "y"], "label": ["p", "q"]}
    with pytest.raises(InputError, match=r"'rater' and 'case': read as item and annotator"):
        Annotations.from_dataframe(
            pa.table(named), columns={"item": "rater", "annotator": "case"}
        )


def test_predictions_about_annotators_mean_swapped_columns():
    rows = swapped(30, 25)
    model = Predictions("m", tuple(dict.fromkeys(rows["annotator"])), np.linspace(0, 1, 30))
    votes = Annotations.from_dataframe(pa.table(rows | {"label": [k % 2 for k in range(750)]}))
    with pytest.raises(InputError, match="which the models predict for"):
        evaluate(model, votes)


@pytest.mark.parametrize("known", [True, False])
def test_predictions_whose_columns_are_tasks(tmp_path, known):
    for number, model in enumerate(MODELS):
        frame = pd.DataFrame(
            {"Study": ITEMS, **dict(zip(TASKS, SCORES[number].T, strict=True))}
        )
        frame.to_csv(tmp_path / f"{model}.csv", index=False)
        np.save(tmp_path / f"{model}.npy", SCORES[number])
    how = {"tasks": TASKS} if known else {"layout": "tasks"}
    models = read_predictions([tmp_path / f"{model}.csv" for model in MODELS], **how)
    assert [(one.model, one.task) for one in models] == [
        (model, task) for model in MODELS for task in TASKS
    ]
    arrays = read_predictions([tmp_path / f"{model}.npy" for model in MODELS], **how)
    for one, two in zip(models, arrays, strict=True):
        assert np.array_equal(one.values, two.values)
        assert two.items == tuple(map(str, range(len(ITEMS))))
        assert not known or one.task == two.task


@pytest.mark.parametrize(
    ("header", "layout"),
    [
        ("Case,Algorithm,Probability", "long"),
        ("IMAGE,MODEL,SCORE", "long"),
        ("study_id,classifier,y_pred", "long"),
    ],
)
def test_predictions_by_synonym(tmp_path, header, layout):
    rows = "".join(
        f"{item},{model},{SCORES[m, i, 0]}\n"
        for m, model in enumerate(MODELS)
        for i, item in enumerate(ITEMS)
    )
    (tmp_path / "scores.csv").write_text(f"{header}\n{rows}")
    read = predictions_of(sources_of(tmp_path / "scores.csv"), ScoreFormat())
    assert [one.model for one in read.predictions] == list(MODELS)
    assert read.layouts == (layout,)
    assert np.array_equal(read.predictions[1].values, SCORES[1, :, 0])
    assert codes(read.notices) == ["columns_by_synonym"]


def test_models_called_like_our_columns_stay_models(tmp_path):
    (tmp_path / "scores.csv").write_text("id,network,prediction\na,0.1,0.2\nb,0.3,0.4\n")
    assert [one.model for one in read_predictions(tmp_path / "scores.csv")] == [
        "network", "prediction",
    ]  # fmt: skip
    (tmp_path / "cnn.csv").write_text("id,prediction\na,0.1\nb,0.3\n")
    assert read_predictions(tmp_path / "cnn.csv")[0].model == "cnn"


def test_arrays_of_classes_and_of_tasks_are_told_apart(tmp_path):
    np.save(tmp_path / "p.npy", np.array([[0.3, 0.7], [0.5, 0.5]]))
    np.save(tmp_path / "t.npy", np.array([[0.3, 0.2], [0.5, 0.9]]))
    how = {"tasks": TASKS, "classes": ("no", "yes")}
    assert read_predictions(tmp_path / "p.npy", **how)[0].classes == ("no", "yes")
    assert [one.task for one in read_predictions(tmp_path / "t.npy", **how)] == list(TASKS)


def test_frames_of_several_tasks():
    votes = tidy()
    scores = pd.DataFrame({"study": ITEMS, **dict(zip(TASKS, SCORES[0].T, strict=True))})
    done = evaluate(scores, votes, metrics=["auroc"], resampling="items")
    assert done.tasks[:2] == TASKS
    assert "predicted_tasks" in codes(done.notices)


def test_predicted_tasks_that_do_not_match(tmp_path):
    frame = pd.DataFrame({"item": ITEMS, "edema": SCORES[0, :, 0], "extra": SCORES[0, :, 1]})
    frame.to_csv(tmp_path / "cnn.csv", index=False)
    (one,) = read_predictions(tmp_path / "cnn.csv", tasks=("edema",))
    assert (one.model, one.task) == ("cnn", "edema")
    tasks = ("edema", "mass", "fracture")
    frame.assign(mass=SCORES[1, :, 0]).rename(columns={"extra": "fractur"}).to_csv(
        tmp_path / "cnn.csv", index=False
    )
    with pytest.raises(InputError, match=r"'fractur': no annotated task.*mean 'fracture'\?"):
        read_predictions(tmp_path / "cnn.csv", tasks=tasks)


FRAMES = [pd.DataFrame, pl.DataFrame, pa.table, lambda columns: pl.DataFrame(columns).lazy()]


@pytest.mark.parametrize("frame", FRAMES)
def test_dataframes_go_straight_into_evaluate(frame):
    votes = frame(tidy(slice(0, 1)).drop(columns="task").to_dict("list"))
    scores = frame(
        {"item": ITEMS, "cnn": SCORES[0, :, 0].tolist(), "vit": SCORES[1, :, 0].tolist()}
    )
    done = evaluate(scores, votes, metrics=["auroc"], resampling="items")
    table = Annotations.from_dataframe(votes)
    models = Predictions.from_dataframe(scores)
    same = evaluate(models, table, metrics=["auroc"], resampling="items")
    assert done.models == MODELS
    assert np.array_equal(done.values, same.values)
    again = evaluate(scores, table, metrics=["auroc"], resampling="items")
    assert np.array_equal(done.values, again.values)


def test_class_names_are_decisions_in_python(tmp_path):
    words = ["benign", "malignant", "unsure"]
    votes = pd.DataFrame({"item": ITEMS * 2, "annotator": ["x"] * 24 + ["y"] * 24,
                          "label": [words[k % 3] for k in range(48)]})  # fmt: skip
    said = {"item": ITEMS, "cnn": [words[k % 3] for k in range(24)], "vit": ["benign"] * 24}
    done = evaluate(pd.DataFrame(said), votes, metrics=["accuracy"], resampling="items")
    assert done.estimate("cnn", "accuracy", labels="soft").value == 1
    assert done.estimate("vit", "accuracy", labels="soft").value == pytest.approx(1 / 3)
    pd.DataFrame(said).to_csv(tmp_path / "said.csv", index=False)
    alone = read_predictions(tmp_path / "said.csv")
    assert alone[0].classes == tuple(words)
    assert alone[0].decides
    never = Predictions("m", tuple(ITEMS), np.ones((24, 1)), classes=("benign",))
    assert never.aligned(ITEMS, words).tolist() == [[1, 0, 0]] * 24
    two = Predictions("m", ("a", "b"), np.eye(2), classes=("benign", "unsure"))
    assert two.aligned(["b", "a"], words).tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(InputError, match=r"item 's03': class 'bening', expected one of"):
        evaluate(
            pd.DataFrame(said | {"cnn": [*said["cnn"][:3], "bening", *said["cnn"][4:]]}), votes
        )


def test_two_class_names_are_decisions_too():
    votes = pd.DataFrame({"item": ITEMS * 2, "annotator": ["x"] * 24 + ["y"] * 24,
                          "label": ["no", "yes"] * 24})  # fmt: skip
    said = pd.DataFrame({"item": ITEMS, "cnn": ["no", "yes"] * 12})
    done = evaluate(said, votes, metrics=["accuracy"], resampling="items")
    assert done.estimate("cnn", "accuracy", labels="soft").value == 1


def test_a_word_among_scores_is_a_fault_and_no_class(tmp_path):
    (tmp_path / "cnn.csv").write_text("item,score\na,0.2\nb,oops\nc,0.4\n")
    with pytest.raises(InputError, match=r"row 3.*score 'oops', expected a number"):
        read_predictions(tmp_path / "cnn.csv")


def test_classes_that_nobody_named_come_from_the_predictions_unless_all_are_known(tmp_path):
    votes = Annotations.from_dataframe(pa.table({"item": ["a", "b"], "label": ["x", "y"]}))
    (tmp_path / "cnn.csv").write_text("item,x,y,z\na,0.5,0.5,0\nb,0.2,0.3,0.5\n")
    more, read = predictions_for(votes, [tmp_path / "cnn.csv"], layout="classes")
    assert read.predictions[0].classes == ("x", "y", "z")
    assert (more.classes, codes(more.notices)) == (("x", "y", "z"), ["classes_of_predictions"])
    with pytest.raises(InputError, match="probabilities sum to"):
        predictions_for(votes, [tmp_path / "cnn.csv"], classes_known=True, layout="classes")


def test_json_and_folders_do_not_mix(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([[["x"]]]))
    (tmp_path / "b.csv").write_text("item,label\na,x\n")
    with pytest.raises(InputError, match=r"a\.json: one of several files of annotations"):
        read_annotations([tmp_path / "a.json", tmp_path / "b.csv"])


@pytest.mark.parametrize("between", [",", ", ", ";", "|"])
def test_several_labels_in_one_are_asked_about_unless_they_are_classes(between):
    both = f"flu{between}cold"
    rows = [("a", both), ("b", "flu"), ("c", "cold")]
    table = pa.table({"item": [i for i, _ in rows], "label": [label for _, label in rows]})
    with pytest.raises(InputError, match=r"several labels in one.*layout='tasks'") as refused:
        Annotations.from_dataframe(table)
    assert "one label a vote" in str(refused.value)
    named = Annotations.from_dataframe(table, classes=["cold", "flu", both])
    assert named.classes == ("cold", "flu", both)
    alone = pa.table({"item": ["a", "b"], "label": ["Nodule, solid", "Mass"]})
    assert Annotations.from_dataframe(alone).classes == ("Mass", "Nodule, solid")
