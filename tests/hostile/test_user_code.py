"""What a user wrote (detector, encoder, metric) is called behind one boundary by every verb."""

import os
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from equipoise import Annotations, InputError, Predictions, evaluate
from equipoise.clean import Collection
from equipoise.clean.encoders import GreyPixels, choose_encoder, embed, fingerprint_of
from equipoise.clean.images import ArrayImages
from equipoise.clean.planting import OffTopic, contaminate
from equipoise.metrics import named
from equipoise.read.user_code import call_user_code
from tests.cli_sample import caller

IMAGES = ArrayImages(np.random.default_rng(0).integers(0, 256, (70, 8, 8), np.uint8))
ENCODER = """
import sys
from dataclasses import dataclass
import numpy as np
from equipoise.clean.encoders import Encoder

@dataclass(frozen=True)
class Mine(Encoder):
    name = "mine"
    fingerprint = "abc"

    def encode(self, images, places):
        {}
"""
GOOD = "return np.array([images.rgb(int(p)).mean((0, 1)) for p in places])"


@pytest.fixture
def encoder(tmp_path):
    def written(line, **changes):
        path, text = tmp_path / "mine.py", ENCODER.format(line)
        for old, new in changes.items():
            text = text.replace(f"{old} = ", f"{old} = {new} or ")
        path.write_text(text)
        return choose_encoder(f"{path}:Mine")

    return written


def test_an_encoder_of_your_own_embeds_and_prints_into_no_result(encoder, tmp_path, capsys):
    own = encoder(f"print('hello'); {GOOD}")
    first = embed(IMAGES, own, cache=tmp_path / "cache")
    assert first.values.shape == (70, 3) and first.encoded == 70
    assert embed(IMAGES, own, cache=tmp_path / "cache").encoded == 0
    assert capsys.readouterr().out == ""


BROKEN = [
    ("raise SystemExit(3)", "SystemExit: 3 (mine.py, line 13)"),
    ("1 / 0", "ZeroDivisionError: division by zero (mine.py, line 13)"),
    ("return None", "object of shape ()"),
    ("return 'words'", "of shape ()"),
    ("return np.zeros((len(places) + 1, 2))", "of shape (65, 2)"),
    ("return np.zeros((len(places), 0))", "of shape (64, 0)"),
    ("return [[1.0], [2.0, 3.0]]", "ValueError"),
    ("return np.full((len(places), 2), np.nan)", "not finite"),
    ("return np.zeros((len(places), 2 + (len(places) < 64)))", "2 and 3 features"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "got"), BROKEN)
def test_what_an_encoder_of_your_own_does_wrong_is_said_with_its_file(encoder, line, got):
    own = encoder(line)
    with pytest.raises(InputError) as refused:
        embed(IMAGES, own)
    assert got in str(refused.value) and refused.value.do
    assert "features" in got or "mine.py" in refused.value.where


@pytest.mark.parametrize("name", ["'../../out'", "7", "print('x') or exit(4)", "'x' * 999"])
def test_the_name_of_a_cache_is_no_path_that_a_user_wrote(encoder, tmp_path, name):
    own = encoder(GOOD)
    kind = type(own)
    broken = type("Broken", (kind,), {"fingerprint": property(lambda _: eval(name))})()
    with pytest.raises(InputError, match="fingerprint"):
        embed(IMAGES, broken, cache=tmp_path / "cache")
    assert not (tmp_path / "out").exists()


def test_planted_pictures_are_embedded_behind_the_boundary(encoder):
    data = Collection(items=tuple(map(str, range(70))), images=IMAGES)
    with pytest.raises(InputError, match=r"mine\.py"):
        contaminate(data, off_topic=OffTopic(), encoder=encoder("raise SystemExit(0)"))


def test_a_scan_takes_an_encoder_of_your_own(encoder, tmp_path, monkeypatch, capsys):
    from PIL import Image

    encoder(GOOD)
    for place in range(24):
        pixels = np.random.default_rng(place).integers(0, 256, (8, 8, 3), np.uint8)
        (tmp_path / "images").mkdir(exist_ok=True)
        Image.fromarray(pixels).save(tmp_path / "images" / f"{place}.png")
    call = caller(monkeypatch, capsys)
    words = ("clean", "scan", tmp_path / "images", "--no-check", "--json", "--encoder")
    code, _, err = call(*words, f"{tmp_path / 'mine.py'}:Mine")
    assert code == 0, err
    encoder("raise SystemExit(0)")
    code, out, err = call(*words, f"{tmp_path / 'mine.py'}")
    assert code == 1 and "mine.py" in err and "SystemExit" in err and out == ""


# ---- metrics -------------------------------------------------------------------------------


def votes_and_models():
    """Three annotators on forty items, and two models."""
    random = np.random.default_rng(1)
    item, who = (axis.ravel() for axis in np.indices((40, 3)))
    truth = Annotations(
        kind="binary", items=tuple(map(str, range(40))), classes=("no", "yes"),
        annotators=("a", "b", "c"), item=item, annotator=who,
        label=(random.random(120) < 0.2 + 0.6 * (item % 2)).astype(int),
    )  # fmt: skip
    return truth, [Predictions(name, truth.items, random.random(40)) for name in ("x", "y")]


def own_metric(**functions):
    """The accuracy under a name of the caller's, with functions of their own."""
    return replace(named("accuracy"), name="mine", family="mine", **functions)


def stops(*_):
    raise SystemExit(5)


def prints(sums):
    sys.stdout.write("hello")
    return named("accuracy").finish(sums)


METRICS = [
    ({"finish": stops}, "SystemExit: 5"),
    ({"reduce": stops}, "SystemExit: 5"),
    ({"prepare": lambda _: 1 / 0}, "ZeroDivisionError"),
    ({"finish": lambda _: "many"}, "of shape ()"),
    ({"finish": lambda sums: np.zeros(np.shape(sums)[-1] + 2)}, "of shape"),
    ({"finish": lambda sums: np.full(np.shape(sums)[-1], 7.0)}, "values from 7 to 7"),
]


@pytest.mark.parametrize(("functions", "got"), METRICS)
def test_what_a_metric_of_your_own_does_wrong_is_said_with_its_file(functions, got):
    truth, models = votes_and_models()
    with pytest.raises(InputError) as refused:
        evaluate(models, truth, metrics=[own_metric(**functions)]).table()
    assert got in str(refused.value) and "test_user_code.py" in refused.value.where


def test_a_metric_of_your_own_is_scored_and_prints_into_no_result(capsys):
    truth, models = votes_and_models()
    ours = evaluate(models, truth, metrics=[own_metric(finish=prints)]).table()
    usual = evaluate(models, truth, metrics=["accuracy"]).table()
    assert [row.value for row in ours] == [row.value for row in usual]
    assert capsys.readouterr().out == ""


def test_threads_that_call_user_code_leave_the_output_where_it_was():
    before, gate = sys.stdout, threading.Barrier(4)

    def slow():
        gate.wait(timeout=20)

    threads = [
        threading.Thread(target=call_user_code, args=(slow,),
                         kwargs={"where": "mine", "expected": "nothing"})
        for _ in range(4)
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.stdout is before


@dataclass(frozen=True)
class Local(GreyPixels):
    """An encoder of a caller in Python."""

    def encode(self, images, places):
        """Nothing that can be used."""
        return np.zeros((1, 1)), images, places

    @property
    def fingerprint(self):
        """Of nothing."""
        return fingerprint_of(name="local")


def test_an_encoder_that_a_caller_hands_over_is_fenced_too():
    with pytest.raises(InputError, match=r"encoder pixels of .*test_user_code\.py"):
        embed(IMAGES, Local())


# ---- what nobody expects -------------------------------------------------------------------


class Odd(BaseException):
    """No ordinary error."""


class Wordless(Exception):
    """An error that cannot even be told."""

    def __str__(self):
        raise ValueError


def raises(error):
    raise error


@pytest.mark.parametrize(
    ("error", "got"),
    [(Odd("x"), "Odd: x"), (GeneratorExit(), "GeneratorExit"), (Wordless(), "Wordless"),
     (ValueError("a\nb"), "ValueError: a ("),
     (ValueError("a" * 999), f"ValueError: {'a' * 300} (")],
)  # fmt: skip
def test_whatever_is_raised_becomes_an_error_of_one_line(error, got):
    with pytest.raises(InputError) as refused:
        call_user_code(raises, error, where="mine.py:Mine", expected="a score")
    assert refused.value.got.startswith(got) and refused.value.where == "mine.py:Mine"


def test_an_interruption_is_the_users():
    with pytest.raises(KeyboardInterrupt):
        call_user_code(raises, KeyboardInterrupt(), where="mine.py:Mine", expected="a score")


def test_an_error_of_ours_inside_says_whose_code_met_it():
    error = InputError("predictions", "value is nan", "a number", "correct it")
    with pytest.raises(InputError) as refused:
        call_user_code(raises, error, where="mine.py:Mine", expected="a score")
    assert (
        refused.value.where == "mine.py:Mine: predictions" and refused.value.do == "correct it"
    )


def test_compiled_code_prints_into_no_result(capfd):
    def loud():
        os.write(1, b"compiled")
        os.system("echo other program")
        return call_user_code(os.write, 1, b"deeper", where="mine", expected="a number")

    assert call_user_code(loud, where="mine", expected="a number") == 6
    os.write(1, b"ours")
    out, err = capfd.readouterr()
    assert out == "ours" and err.split() == ["compiledother", "program", "deeper"]


DETECTOR = """
import sys
from equipoise.clean import Detector
class Mine(Detector):
    name, title, task, needs = "mine", "Mine", "off_topic", ("embeddings",)
    {line}
    def score(self, data, *, seed=0, progress=None):
        return self.of_items(data.items, range(len(data.items)))
"""


@pytest.mark.parametrize(
    ("line", "got"),
    [
        ("name = 3", "mine.py:Mine, name: int, expected str"),
        ("name = ''", "mine.py:Mine, name: empty text"),
        ("title = None", "mine.py:Mine, title: NoneType, expected str"),
        ("needs = 3", "mine.py:Mine, needs: int, expected tuple"),
        ("needs = ('all',)", "mine.py:Mine, needs: 'all', expected one of embeddings"),
        ("bounded = 'yes'", "mine.py:Mine, bounded: str, expected bool"),
        ("settings = property(lambda self: 1 / 0)", "Mine, settings: ZeroDivisionError"),
        ("name = property(lambda self: sys.exit(0))", "mine.py:Mine, name: SystemExit: 0"),
        ("def missing(self, data): sys.exit(0)", "mine: SystemExit: 0 (mine.py, line"),
    ],
)  # fmt: skip
def test_facts_of_a_detector_of_yours_are_checked(line, got, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.py").write_text(DETECTOR.format(line=line))
    np.savez(tmp_path / "f.npz", items=np.arange(9).astype(str), embeddings=np.eye(9))
    monkeypatch.chdir(tmp_path)
    words = ("clean", "scan", "f.npz", "--no-check", "--detectors", "mine.py:Mine")
    code, out, err = caller(monkeypatch, capsys)(*words)
    assert (code, out) == (1, "") and got in " ".join(err.split())


@pytest.mark.parametrize(
    ("line", "got"),
    [
        ("sys.exit(0)", "SystemExit: 0 (mine.py, line 8)"),
        ("return self.of_items(data.items, ['a'] * 9)", "float: 'a' (mine.py, line 8)"),
        ("return None", "mine.py: NoneType; it takes Predictions"),
        ("data.embeddings[:] = 0", "read-only (mine.py, line 8)"),
        ("return self.of_items(['gone'], [1.0])", "mine.py: a score of 'gone'"),
    ],
)  # fmt: skip
def test_a_scan_names_the_file_and_line_of_a_detector_that_fails(
    line, got, tmp_path, monkeypatch, capsys
):
    text = DETECTOR.format(line="").replace("return self.of_items(data.items", f"{line} #")
    (tmp_path / "mine.py").write_text(text)
    np.savez(tmp_path / "f.npz", items=np.arange(9).astype(str), embeddings=np.eye(9))
    monkeypatch.chdir(tmp_path)
    words = ("clean", "scan", "f.npz", "--no-check", "--detectors", "mine.py:Mine")
    code, out, _ = caller(monkeypatch, capsys)(*words)
    assert code == 0 and got in " ".join(out.split()) and "detector mine of" in out.lower()


def test_user_code_that_goes_elsewhere_takes_nobody_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call_user_code(os.chdir, "/", where="mine", expected="nothing")
    with pytest.raises(InputError):
        call_user_code(lambda: [os.chdir("/"), stops()], where="mine", expected="nothing")
    assert Path.cwd() == tmp_path
