"""Measure, explain, tune and improve the quality/diversity trade-off of generative models."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
