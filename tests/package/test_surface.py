"""The public surface: what is public, what it loads, and that each name shows an example."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import pytest

import tradeoff
from tradeoff._extras import import_extra
from tradeoff.exceptions import MissingExtraError

PUBLIC_MODULES = (
    "tradeoff.core",
    "tradeoff.core.divergence",
    "tradeoff.counting",
    "tradeoff.goals",
    "tradeoff.comparison",
    "tradeoff.curves",
    "tradeoff.data",
    "tradeoff.evaluation",
    "tradeoff.explain",
    "tradeoff.exceptions",
    "tradeoff.features",
    "tradeoff.inference",
    "tradeoff.integrations",
    "tradeoff.integrations.loggers",
    "tradeoff.metrics",
    "tradeoff.metrics.moments",
    "tradeoff.metrics.neighbors",
    "tradeoff.prompts",
    "tradeoff.protocols",
    "tradeoff.ratio",
    "tradeoff.report",
    "tradeoff.samples",
    "tradeoff.tables",
    "tradeoff.sampling",
    "tradeoff.sequential",
    "tradeoff.settings",
    "tradeoff.tracking",
)
PRIVATE_MODULES = ("tradeoff.embedding", "tradeoff.engines", "tradeoff.provenance")
NEEDING_TORCH = (
    "tradeoff.integrations.lightning",
    "tradeoff.integrations.transformers",
    "tradeoff.integrations.torchmetrics",
    "tradeoff.training",
)

FACE = {
    "Above",
    "Below",
    "Best",
    "AcceptanceRule",
    "CurveEstimate",
    "Evaluation",
    "HeldOutLogRatios",
    "InvalidInputError",
    "Comparison",
    "PRCurve",
    "PRCurveDisplay",
    "RatioProfile",
    "Settings",
    "SupportMetrics",
    "TradeoffError",
    "UndefinedError",
    "__version__",
    "compare",
    "diagnose",
    "evaluate",
    "frechet_distance",
    "kernel_distance",
    "load",
    "pr_curve",
    "reproduce",
    "support_metrics",
    "decide",
    "sweep",
}


def test_the_face():
    assert set(tradeoff.__all__) == FACE
    assert dir(tradeoff) == sorted(FACE)
    for name in FACE:
        assert getattr(tradeoff, name) is not None
    with pytest.raises(AttributeError, match=r"`tradeoff` has no `precision`\.$"):
        _ = tradeoff.precision


LOADABLE = PUBLIC_MODULES + (NEEDING_TORCH if find_spec("torch") else ())
PUBLIC_NAMES = [
    (module, name) for module in LOADABLE for name in importlib.import_module(module).__all__
]


@pytest.mark.torch
def test_a_name_on_top_is_one_of_a_public_module():
    names = [
        (module, name)
        for module in PUBLIC_MODULES + NEEDING_TORCH
        for name in importlib.import_module(module).__all__
    ]
    things = [getattr(importlib.import_module(module), name) for module, name in names]
    for name in set(tradeoff.__all__) - {"__version__"}:
        assert any(getattr(tradeoff, name) is thing for thing in things), f"{name} only on top"
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("module", "name"), PUBLIC_NAMES)
def test_every_public_name_has_an_example(module, name):
    """The examples run with the doctests."""
    thing = getattr(importlib.import_module(module), name)
    if isinstance(thing, (float, dict)):
        return  # constants, which cannot carry a docstring
    assert ">>> " in (inspect.getdoc(thing) or ""), f"{module}.{name} shows no example"


def test_every_public_method_is_documented():
    for module in LOADABLE:
        for name in importlib.import_module(module).__all__:
            thing = getattr(importlib.import_module(module), name)
            if not inspect.isclass(thing):
                continue
            for method in vars(thing):
                kind = inspect.getattr_static(thing, method)
                if not method.startswith("_") and isinstance(
                    kind, (property, classmethod, types.FunctionType)
                ):
                    assert inspect.getdoc(getattr(thing, method)), f"{name}.{method}"


def test_public_modules_are_all_there_are():
    """A module is public, a file of a public package, private, or part of the command line."""
    known = PUBLIC_MODULES + NEEDING_TORCH + PRIVATE_MODULES
    for found in pkgutil.walk_packages(tradeoff.__path__, "tradeoff."):
        package = found.name.split(".")[1]
        listed = any(f"{found.name}.".startswith(f"{module}.") for module in known)
        assert listed or package.startswith("_") or package == "cli", found.name


def glance(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "_ext"))
    return importlib.import_module("api_glance")


@pytest.mark.torch
def test_the_glance_lists_every_public_name(monkeypatch):
    page = glance(monkeypatch)
    listed = {module for module in PUBLIC_MODULES + NEEDING_TORCH if _has_names(module)}
    assert set(page.MODULES) == listed
    text = page.markdown()
    for module in listed:
        for name in importlib.import_module(module).__all__:
            assert f"`~{module}.{name}`" in text or f"| `{name}` |" in text


@pytest.mark.torch
def test_every_row_of_the_glance_has_a_sentence(monkeypatch):
    page = glance(monkeypatch)
    for module in page.MODULES:
        for name, _, sentence in page.rows(module):
            assert sentence.endswith((".", "?")), name


def _has_names(module):
    return bool(importlib.import_module(module).__all__)


HEAVY = ("torch", "sklearn", "matplotlib")


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "import tradeoff",
        "import tradeoff.core.divergence",
        "import tradeoff; tradeoff.RatioProfile.from_masses([1], [1]).curve().area",
        "from tradeoff import PRCurveDisplay",
        "from tradeoff import frechet_distance, support_metrics",
    ],
)
def test_imports_stay_light(statement):
    code = f"{statement}\nimport sys\nprint([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_missing_extra_is_named():
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(name, path, target=None):\n"
        "        if name == 'torch': raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Absent)\n"
        "from tradeoff import TradeoffError, support_metrics\n"
        "try: support_metrics(real=[[0.0]], generated=[[0.0]])\n"
        "except TradeoffError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "Finding exact neighbors requires the package torch, which is not installed: "
        "pip install 'tradeoff[torch]'."
    )


def test_a_missing_part_of_a_missing_package_is_named_too():
    with pytest.raises(MissingExtraError, match="requires the package nowhere, which is not"):
        import_extra("nowhere.inner", extra="images", purpose="Reading")


def test_importing_the_package_loads_no_arrays():
    code = "import tradeoff, sys; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
