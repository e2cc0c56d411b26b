"""Results as JSON without loss, and back.

A result is a document with a schema, a version and its fields. What JSON does not know is an object
with one key that begins with ``$``: arrays, tuples, non-finite numbers, and mappings whose keys are
not texts. Classes are found by name in `RESULTS` and nowhere else, so that no file can choose what
is imported or run.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields as fields_of
from typing import Any

import numpy as np
import numpy.typing as npt

from tradeoff._decoding import check_types, read_fields
from tradeoff._registry import resolve
from tradeoff._sides import Sides
from tradeoff._validation import FloatArray
from tradeoff.exceptions import InvalidInputError

__all__ = ["RESULTS", "decode_result", "encode_result", "read_result"]

_VERSION = 1
RESULTS = {
    "AcceptanceRule": "tradeoff.core.budget:AcceptanceRule",
    "Accounting": "tradeoff.sampling.accounting:Accounting",
    "Broken": "tradeoff.data.base:Broken",
    "ClassLoss": "tradeoff.explain.result:ClassLoss",
    "ClosePair": "tradeoff.explain.result:ClosePair",
    "Comparison": "tradeoff.evaluation.comparison:Comparison",
    "CountedCurve": "tradeoff.curves.counted:CountedCurve",
    "CurveComparison": "tradeoff.curves.comparison:CurveComparison",
    "CurveEstimate": "tradeoff.curves.estimate:CurveEstimate",
    "CurveInterval": "tradeoff.inference.intervals:CurveInterval",
    "Control": "tradeoff.curves.diagnosis:Control",
    "Decision": "tradeoff.evaluation.decisions:Decision",
    "Diagnosis": "tradeoff.curves.diagnosis:Diagnosis",
    "Difference": "tradeoff.evaluation.comparison:Difference",
    "Embedded": "tradeoff.engine.local:Embedded",
    "Evaluation": "tradeoff.evaluation.result:Evaluation",
    "Example": "tradeoff.explain.result:Example",
    "Explanation": "tradeoff.explain.result:Explanation",
    "Filtered": "tradeoff.explain.result:Filtered",
    "Finding": "tradeoff.evaluation.findings:Finding",
    "Group": "tradeoff.explain.result:Group",
    "GroupedLoss": "tradeoff.explain.result:GroupedLoss",
    "HeldOut": "tradeoff.curves.estimate:HeldOut",
    "HeldOutCounts": "tradeoff.core.counts:HeldOutCounts",
    "HeldOutLogRatios": "tradeoff.core.held_out:HeldOutLogRatios",
    "Look": "tradeoff.evaluation.decisions:Look",
    "Loss": "tradeoff.inference.losses:Loss",
    "Losses": "tradeoff.inference.losses:Losses",
    "Measured": "tradeoff.metrics.family:Measured",
    "MeasuredCurve": "tradeoff.metrics.family:MeasuredCurve",
    "Moments": "tradeoff.moments.frechet:Moments",
    "OwnNeighbors": "tradeoff.neighbors.nearest:OwnNeighbors",
    "Outcome": "tradeoff.evaluation.verdict:Outcome",
    "PRCurve": "tradeoff.core.curve:PRCurve",
    "Pair": "tradeoff.samples.pair:Pair",
    "PartScores": "tradeoff.moments.parts:PartScores",
    "Plan": "tradeoff.sampling.planner:Plan",
    "PoolSelection": "tradeoff.sampling.pool:PoolSelection",
    "ROCCurve": "tradeoff.core.roc:ROCCurve",
    "Preview": "tradeoff.explain.result:Preview",
    "Question": "tradeoff.evaluation.decisions:Question",
    "RatioProfile": "tradeoff.core.profile:RatioProfile",
    "Reference": "tradeoff.evaluation.reference:Reference",
    "Reliability": "tradeoff.ratio.calibrated:Reliability",
    "RenyiFrontier": "tradeoff.core.frontier:RenyiFrontier",
    "Reproduction": "tradeoff.protocols.base:Reproduction",
    "SampleValues": "tradeoff.evaluation.result:SampleValues",
    "Sampled": "tradeoff.sampling.sampled:Sampled",
    "Score": "tradeoff.metrics.score:Score",
    "Side": "tradeoff.samples.pair:Side",
    "SupportMetrics": "tradeoff.neighbors.scores:SupportMetrics",
    "SupportScore": "tradeoff.neighbors.scores:SupportScore",
    "Sweep": "tradeoff.evaluation.sweeps:Sweep",
    "SweepPoint": "tradeoff.evaluation.sweeps:SweepPoint",
    "TestedDifference": "tradeoff.curves.comparison:TestedDifference",
    "Verdict": "tradeoff.evaluation.verdict:Verdict",
    "Wish": "tradeoff.evaluation.wishes:Wish",
}
"""Classes that JSON may hold, by name."""
_NUMBERS = re.compile("(bool|u?int(8|16|32|64)|float(16|32|64))")
_PYTHON_TYPES: dict[str, set[type]] = {"b": {bool}, "i": {int}, "u": {int}, "f": {int, float}}
_NAMES: dict[str, Any] = {
    "Any": Any,
    "FloatArray": FloatArray,
    "Hashable": Hashable,
    "Mapping": Mapping,
    "Sequence": Sequence,
    "Sides": Sides,
    "np": np,
    "npt": npt,
}


def encode_result(result: Any) -> dict[str, Any]:
    """A result as a document of plain values."""
    cls = type(result)
    if "to_json" in vars(cls):
        return dict(json.loads(result.to_json()))
    values = {name: getattr(result, name) for name in _field_names(cls)}
    return {
        "schema": f"tradeoff.{cls.__name__}",
        "version": _VERSION,
        "fields": {name: _encode(value, cls.__name__) for name, value in values.items()},
    }


def read_result(text: str, cls: type) -> Any:
    """A result of a class from the text of a document."""
    return decode_result(read_fields(text, f"tradeoff.{cls.__name__}", _VERSION, finite=True))


def decode_result(document: Mapping[str, Any]) -> Any:
    """A result from a document of plain values."""
    name = str(document["schema"]).removeprefix("tradeoff.")
    if name not in RESULTS:
        raise ValueError(f"there is no result {name!r}")
    cls = resolve(RESULTS[name])
    if "from_json" in vars(cls):
        return cls.from_json(json.dumps(document))
    if document["version"] != _VERSION:
        raise ValueError(f"there is no version {document['version']!r} of {name}")
    values = {key: _decode(value) for key, value in document["fields"].items()}
    if values.keys() != set(_field_names(cls)):
        raise ValueError(f"the fields of {name} are {', '.join(_field_names(cls))}")
    return check_types(cls._from_fields(values), names=_names_in(cls), finite=False)


def _field_names(cls: type) -> list[str]:
    return [field.name for field in fields_of(cls) if not field.name.startswith("_")]


def _names_in(cls: type) -> dict[str, Any]:
    """What the annotations of a class name; its module imports some of it for type checks only."""
    words = {word for field in fields_of(cls) for word in re.findall(r"\w+", str(field.type))}
    return _NAMES | {word: resolve(RESULTS[word]) for word in words & RESULTS.keys()}


def _encode(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, np.ndarray):
        return {"$array": _encode_array(value, name)}
    if isinstance(value, Mapping):
        return _encode_mapping(value, name)
    if isinstance(value, (list, tuple)):
        items = [_encode(item, name) for item in value]
        kind = "$sides" if isinstance(value, Sides) else "$tuple"
        return items if isinstance(value, list) else {kind: items}
    if resolve(RESULTS.get(type(value).__name__)) is type(value):
        return encode_result(value)
    raise InvalidInputError(
        f"JSON cannot hold this {name}, which contains an object of type {type(value).__name__}: "
        "pickle it, or call its method `save` if it has one."
    )


def _encode_mapping(value: Mapping[Any, Any], name: str) -> dict[str, Any]:
    if all(isinstance(key, str) and key[:1] != "$" and key != "schema" for key in value):
        return {key: _encode(item, name) for key, item in value.items()}
    return {"$map": [[_encode(key, name), _encode(item, name)] for key, item in value.items()]}


def _encode_array(array: npt.NDArray[Any], name: str) -> dict[str, Any]:
    if array.dtype.kind in "OU":
        values: list[Any] = array.ravel().tolist()
        if not all(isinstance(value, str) for value in values):
            raise InvalidInputError(
                f"JSON cannot hold this {name}: its arrays must hold numbers or texts."
            )
        return {"dtype": "text", "shape": list(array.shape), "values": values}
    values = array.ravel().tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        values = [value if math.isfinite(value) else str(value) for value in values]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": values}


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "schema" in value:
        return decode_result(value)
    if not any(key.startswith("$") for key in value):
        return {key: _decode(item) for key, item in value.items()}
    ((kind, content),) = value.items()
    return _DECODERS[kind](content)


def _decode_float(text: str) -> float:
    return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text]


def _decode_array(content: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Texts become objects, since the longest of them must not decide on the memory of all."""
    dtype, values, shape = content["dtype"], content["values"], tuple(content["shape"])
    if dtype == "text":
        if not all(isinstance(value, str) for value in values):
            raise TypeError("an array of texts holds something else")
        return np.array(values, dtype=object).reshape(shape)
    if not _NUMBERS.fullmatch(dtype):
        raise ValueError(f"there are no arrays of {dtype!r}")
    if dtype.startswith("float"):
        values = [_decode_float(value) if isinstance(value, str) else value for value in values]
    if not {type(value) for value in values} <= _PYTHON_TYPES[np.dtype(dtype).kind]:
        raise TypeError("an array of numbers holds something else")
    return np.array(values, dtype=dtype).reshape(shape)


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "$array": _decode_array,
    "$float": _decode_float,
    "$map": lambda items: {_decode(key): _decode(value) for key, value in items},
    "$sides": lambda items: Sides(*map(_decode, items)),
    "$tuple": lambda items: tuple(map(_decode, items)),
}
