"""Follow a training run: which checkpoint is best, and when to stop.

A `Tracker` measures generated samples of one step after another against the same real samples, in
a worker process, and keeps the step with the best score among those that can be trusted.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
