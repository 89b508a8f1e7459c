"""Import of the package and `--help`, warm, against the interpreter alone and scikit-learn."""

import subprocess
import sys

import sklearn

from benchmarks._clock import best, heading


def seconds(*words):
    command = [sys.executable, *words]
    return best(lambda: subprocess.run(command, capture_output=True, check=True), times=5)


def main():
    heading(f"startup, peer scikit-learn {sklearn.__version__}")
    bare = seconds("-c", "pass")
    numpy = seconds("-c", "import numpy")
    ours = seconds("-c", "import equipoise")
    peer = seconds("-c", "import sklearn.metrics")
    print(f"   python {bare:.3f} s, import numpy {numpy:.3f} s")
    print(f"   import equipoise {ours:.3f} s (goal: under 0.2)")
    print(f"   peer: import sklearn.metrics {peer:.3f} s")
    print(f"   equipoise --help {seconds('-m', 'equipoise', '--help'):.3f} s (goal: under 0.5)")


if __name__ == "__main__":
    main()
