"""Names of groups: their classes, the words that set them apart, or a rule on columns."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri
from sklearn.tree import DecisionTreeClassifier

from tradeoff.inference import policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.features.table import TableEncoder

__all__ = ["class_name", "rule_name", "words_name"]

_WORDS = 5
_PRIOR = 500.0  # pseudo-counts of the background
_DEPTH = 2
_WORD = re.compile(r"[^\W\d_]{2,}(?:['’][^\W\d_]+)?")


def class_name(labels: Sequence[str | None], members: npt.NDArray[np.intp]) -> str | None:
    """The classes of a group with their shares; None if it spreads over many, or none is known."""
    found = Counter(labels[i] for i in members)
    if not found or set(found) == {None}:
        return None
    largest = max(found.values()) / len(members)
    if largest < policy.NAMED_CLASS:
        return None
    names = [
        f"{'no class' if name is None else name} ({count / len(members):.0%})"
        for name, count in sorted(found.items(), key=lambda one: (-one[1], str(one[0])))[:2]
    ]
    if largest >= policy.MOSTLY:
        return names[0]
    return ", ".join(names)


def words_name(
    texts: Sequence[str], members: npt.NDArray[np.intp], *, most: int = _WORDS
) -> str | None:
    """The words that set a group of texts apart from the rest, most telling first.

    By log-odds with a prior that is proportional to how often words occur anywhere, over their
    standard errors; None if no word occurs more often than elsewhere.

    Args:
        texts: Texts of the whole side.
        members: Indices of the group.
        most: Largest number of words.
    """
    inside, outside = Counter[str](), Counter[str]()
    of_group = set(members.tolist())
    for i, text in enumerate(texts):
        (inside if i in of_group else outside).update(set(_WORD.findall(text.lower())))
    words = sorted(inside)
    if not words:
        return None
    a, b = (np.array([float(c[word]) for word in words]) for c in (inside, outside))
    totals = float(sum(inside.values())), float(max(sum(outside.values()), 1))
    prior = _PRIOR * (a + b) / sum(totals)
    odds = [
        np.log((count + prior) / (total + _PRIOR - count - prior))
        for count, total in zip((a, b), totals, strict=True)
    ]
    score = (odds[0] - odds[1]) / np.sqrt(1.0 / (a + prior) + 1.0 / (b + prior))
    order = np.argsort(-score, kind="stable")[:most]
    told = [words[i] for i in order if score[i] > 0]
    return ", ".join(told) or None


def rule_name(
    encoder: TableEncoder,
    features: FloatArray,
    members: npt.NDArray[np.intp],
    *,
    other: FloatArray,
) -> str | None:
    """A rule on columns that holds for most of a group and for few others; None if there is none.

    It must also hold more often on this side than on the other one: a rule that does not says
    nothing about what is missed or invented.

    Args:
        encoder: Encoder of the table.
        features: Encoded rows of the whole side, shape (n, d).
        members: Indices of the group.
        other: Encoded rows of the other side, shape (m, d).
    """
    inside = np.isin(np.arange(len(features)), members)
    if inside.all():
        return None
    fitted = DecisionTreeClassifier(
        max_depth=_DEPTH,
        min_samples_leaf=max(1, len(members) // 4),
        class_weight="balanced",
        random_state=0,
    ).fit(features, inside)
    tree = fitted.tree_
    holds = fitted.decision_path(features).toarray().astype(bool)
    of_other = fitted.decision_path(other).toarray().astype(bool)
    telling = [
        node
        for node in range(1, tree.node_count)
        if holds[inside, node].mean() >= policy.RULE_HOLDS
        and _is_more_common(holds[:, node], of_other[:, node])
    ]
    if not telling:
        return None
    gains = [holds[inside, node].mean() - holds[~inside, node].mean() for node in telling]
    return " and ".join(_conditions(encoder, tree, telling[int(np.argmax(gains))]))


def _is_more_common(own: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> bool:
    """Whether a rule holds more often on one side, by a one-sided test."""
    shares, sizes = (own.mean(), other.mean()), (own.size, other.size)
    pooled = (own.sum() + other.sum()) / sum(sizes)
    error = np.sqrt(pooled * (1.0 - pooled) * sum(1.0 / size for size in sizes))
    return bool(shares[0] - shares[1] > float(ndtri(policy.RULE_LEVEL)) * error)


def _conditions(encoder: TableEncoder, tree: Any, node: int) -> list[str]:
    """Conditions on the way to a node; of two on one column in one direction, the narrower."""
    found = dict[tuple[int, bool], str]()
    place = 0
    while place != node:
        left, right = int(tree.children_left[place]), int(tree.children_right[place])
        above = node >= right  # nodes are numbered in depth-first order
        column, threshold = int(tree.feature[place]), float(tree.threshold[place])
        found[column, above] = _condition(encoder, column, threshold, above=above)
        place = right if above else left
    return list(found.values())


def _condition(encoder: TableEncoder, column: int, threshold: float, *, above: bool) -> str:
    name = encoder.columns[column]
    for number, mean, deviation in encoder.numbers:
        if name == number:
            return f"{name} {'>' if above else '≤'} {mean + deviation * threshold:.4g}"
    if above:
        return name
    return name.replace(" = ", " ≠ ", 1) if " = " in name else f"not {name}"
