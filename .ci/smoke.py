"""Use an installed wheel the way a newcomer does."""

from importlib.metadata import version
from importlib.resources import files

import tradeoff
from tradeoff import PRCurveDisplay, RatioProfile

assert version("tradeoff") == tradeoff.__version__
assert (files("tradeoff") / "py.typed").is_file()
assert (files("tradeoff") / "__init__.pyi").is_file()
assert "site-packages" in tradeoff.__file__

curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve()
assert (curve.max_precision, curve.max_recall) == (1.0, 0.5)
PRCurveDisplay(curve).plot().figure_.savefig("curve.png")
