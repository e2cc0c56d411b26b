"""A training loop of one's own that is followed: the best step is kept, and a picture shows all.

The picture has precision, recall and F-score of all steps, and which one is kept.

    python -m examples.follow_loop --output steps.png
"""

from copy import deepcopy

import torch

from examples.parts.ring import RATE, Ring, Size, draw_real, show
from tradeoff.tracking import Tracker


def follow(size: Size) -> Tracker:
    """Train a flow, and end with the weights of its best step."""
    model = Ring()
    optimizer = torch.optim.Adam(model.parameters(), RATE)
    # The page "Train" shows the following lines.
    tracker = Tracker(draw_real(size.samples), estimator="trees")
    for step in range(1, size.steps + 1):
        optimizer.zero_grad()
        model.loss(draw_real(256)).backward()
        optimizer.step()
        if step % size.every == 0:
            with torch.no_grad():
                made = model.sample(size.samples)
            tracker.update(made, step=step, checkpoint=deepcopy(model.state_dict()))
        if tracker.should_stop:
            break
    tracker.finish()
    if tracker.best is not None:
        model.load_state_dict(tracker.checkpoint)
    # The page ends here.
    return tracker


if __name__ == "__main__":
    show(__doc__, follow)
