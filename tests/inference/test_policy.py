"""What decides what is said stands in one file, with its source, on slopes that are counted."""

import ast
from pathlib import Path

import numpy as np

from tradeoff import HeldOutLogRatios
from tradeoff.core.counts import COUNTED_SLOPES
from tradeoff.inference import policy
from tradeoff.inference.losses import balance_of

SOURCE = Path(policy.__file__).parents[1]
JUDGING = ["evaluation/verdict.py", "evaluation/findings.py", "inference/losses.py"]
JUDGING += ["inference/rejections.py", "curves/repeats.py", "sampling/accounting.py"]


def constants(path):
    """Names of constants of a file, and the line of text after each."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and node.targets[0].id.strip("_").isupper():
            said = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            yield node, after.value.value if said else ""


def test_every_threshold_says_where_it_comes_from():
    found = {node.targets[0].id: text for node, text in constants(Path(policy.__file__))}
    assert len(found) > 40
    assert [name for name, text in found.items() if len(text) < 20] == []


def test_files_that_judge_hold_no_numbers_of_their_own():
    for name in JUDGING:
        for node, _ in constants(SOURCE / name):
            if not isinstance(node.value, ast.Constant) or isinstance(node.value.value, str):
                continue
            constant = node.targets[0].id
            is_rounding = constant == "_ROUNDING" and node.value.value < 1e-6  # decides nothing
            assert is_rounding, f"{name}: {constant} belongs in inference/policy.py"


def test_slopes_of_the_headline_and_of_losses_are_counted():
    for lam in (1.0, *policy.COMMON_SLOPES.values(), *policy.FURTHER_FACTORS):
        assert np.isclose(COUNTED_SLOPES, lam, rtol=1e-9).any()
        assert np.isclose(COUNTED_SLOPES, 1 / lam, rtol=1e-9).any()
    # Wherever the balanced slope is, losses are tested at slopes that are counted.
    separated = balance_of(HeldOutLogRatios(real=np.full(50, 9.0), generated=np.full(50, -9.0)))
    rare = balance_of(
        HeldOutLogRatios(real=np.repeat([9.0, -4.5], [495, 5]), generated=[-4.5] * 99)
    )
    for balance in (separated, rare):
        assert balance.factor("precision") <= COUNTED_SLOPES[-1] * (1 + 1e-9)
        assert balance.factor("recall") <= COUNTED_SLOPES[-1] * (1 + 1e-9)
    assert rare.high > 50
