"""Several models, or values of a knob, against one reference: which is better?"""

from tradeoff.comparison.curves import compare_curves
from tradeoff.comparison.models import Comparison, compare, load
from tradeoff.comparison.sweep import Sweep, sweep

__all__ = ["Comparison", "Sweep", "compare", "compare_curves", "load", "sweep"]
