"""The earlier name of `equipoise.evaluation.influence`."""

from equipoise.evaluation.influence import class_average

__all__ = ["class_average"]
