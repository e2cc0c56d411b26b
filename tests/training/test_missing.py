"""Without PyTorch or a framework, one sentence names the extra."""

import subprocess
import sys

import pytest

CODE = """
import sys

class Missing:
    def find_spec(self, name, *_):
        if name == {missing!r}:
            raise ModuleNotFoundError(name=name)

sys.meta_path.insert(0, Missing())
from tradeoff.exceptions import MissingExtraError
try:
    import {module}
except MissingExtraError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "missing", "extra"),
    [
        ("tradeoff.training", "torch", "torch"),
        ("tradeoff.integrations.torchmetrics", "torch", "torchmetrics"),
        ("tradeoff.integrations.lightning", "torch", "lightning"),
        pytest.param(
            *("tradeoff.integrations.torchmetrics", "torchmetrics", "torchmetrics"),
            marks=pytest.mark.torch,
        ),
        pytest.param(
            *("tradeoff.integrations.lightning", "lightning", "lightning"), marks=pytest.mark.torch
        ),
    ],
)
def test_the_extra_is_named(module, missing, extra):
    code = CODE.format(module=module, missing=missing)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"the package {missing}, which is not installed: pip install 'tradeoff[{extra}]'" in (
        done.stdout
    )
