"""Names of groups: their classes, the words that set them apart, or a rule on columns."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
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
    """The classes of a group with their shares; None if no member has one."""
    found = Counter(labels[i] for i in members)
    if not found or set(found) == {None}:
        return None
    names = [
        f"{'no class' if name is None else name} ({count / len(members):.0%})"
        for name, count in sorted(found.items(), key=lambda one: (-one[1], str(one[0])))[:2]
    ]
    if max(found.values()) / len(members) >= policy.MOSTLY:
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
    encoder: TableEncoder, features: FloatArray, members: npt.NDArray[np.intp]
) -> str | None:
    """A rule on columns that holds for most of a group and for few others; None if there is none.

    Args:
        encoder: Encoder of the table.
        features: Encoded rows of the whole side, shape (n, d).
        members: Indices of the group.
    """
    inside = np.isin(np.arange(len(features)), members)
    if inside.all():
        return None
    tree = DecisionTreeClassifier(
        max_depth=_DEPTH,
        min_samples_leaf=max(1, len(members) // 4),
        class_weight="balanced",
        random_state=0,
    ).fit(features, inside)
    nodes = tree.tree_
    leaves = tree.apply(features)
    best = max(np.unique(leaves), key=lambda leaf: _gain(leaves == leaf, inside))
    path, node = list[str](), 0
    while node != best:
        column, threshold = int(nodes.feature[node]), float(nodes.threshold[node])
        right = _contains(nodes, int(nodes.children_right[node]), int(best))
        path.append(_condition(encoder, column, threshold, above=right))
        node = int((nodes.children_right if right else nodes.children_left)[node])
    return " and ".join(path) or None


def _gain(chosen: npt.NDArray[np.bool_], inside: npt.NDArray[np.bool_]) -> float:
    return float(chosen[inside].mean() - chosen[~inside].mean())


def _contains(nodes: object, root: int, leaf: int) -> bool:
    """Whether a leaf lies below a node."""
    left, right = nodes.children_left, nodes.children_right  # type: ignore[attr-defined]
    if root == leaf:
        return True
    return left[root] >= 0 and (
        _contains(nodes, int(left[root]), leaf) or _contains(nodes, int(right[root]), leaf)
    )


def _condition(encoder: TableEncoder, column: int, threshold: float, *, above: bool) -> str:
    name = encoder.columns[column]
    for number, mean, deviation in encoder.numbers:
        if name == number:
            return f"{name} {'>' if above else '≤'} {mean + deviation * threshold:.4g}"
    if above:
        return name
    return name.replace(" = ", " ≠ ", 1) if " = " in name else f"not {name}"
