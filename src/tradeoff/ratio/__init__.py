"""Estimators of log p/q.

`ESTIMATORS` declares them by name; every one of them passes the same tests.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
