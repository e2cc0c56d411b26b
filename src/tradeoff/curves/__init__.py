"""The held-out curve of two samples: cross-fitting, intervals, comparison and controls."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
