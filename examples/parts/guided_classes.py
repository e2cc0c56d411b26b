"""Guidance with nothing learned: Gaussian classes whose guided density is known.

Classes are Gaussians of one width s around known means. On the way from noise z to data x, at
(1 - t) z + t x, the velocity of a class and that of all classes are known in closed form, and so is
the divergence of the guided velocity. Solving both backward gives the density of guided samples.
"""

import math
from typing import NamedTuple

import torch


class GuidedClasses(NamedTuple):
    """Classes of equal weight, sampled with guidance.

    Args:
        means: Means of the classes, shape (k, d).
        width: Standard deviation of each class in every direction.
        guidance: Scale w of the guidance; without guidance (0) a sample is that of its class.
        steps: Steps from noise to data.
    """

    means: torch.Tensor
    width: float
    guidance: float = 0.0
    steps: int = 100

    def sample(self, n: int) -> torch.Tensor:
        """Samples of all classes, by the midpoint rule, shape (n, d)."""
        labels = torch.randint(len(self.means), (n,))
        x = torch.randn(n, self.means.shape[1], dtype=self.means.dtype)
        for step in range(self.steps):
            half = x + 0.5 / self.steps * self._velocity(x, step / self.steps, labels)[0]
            x = x + 1.0 / self.steps * self._velocity(half, (step + 0.5) / self.steps, labels)[0]
        return x

    def log_density(self, x: torch.Tensor) -> torch.Tensor:
        """Log-density of samples of all classes at places of shape (n, d), shape (n,)."""
        classes = len(self.means)
        labels = torch.arange(classes).repeat(len(x))
        z, volume = x.repeat_interleave(classes, 0), torch.zeros(len(labels), dtype=x.dtype)
        for step in reversed(range(self.steps)):
            velocity, _ = self._velocity(z, (step + 1) / self.steps, labels)
            half = z - 0.5 / self.steps * velocity
            velocity, divergence = self._velocity(half, (step + 0.5) / self.steps, labels)
            z, volume = z - velocity / self.steps, volume + divergence / self.steps
        normal = -0.5 * z.square().sum(1) - 0.5 * x.shape[1] * math.log(2 * math.pi)
        return torch.logsumexp((normal - volume).view(-1, classes), 1) - math.log(classes)

    def _velocity(
        self, x: torch.Tensor, t: float, labels: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Guided velocity of places, shape (n, d), and its divergence, shape (n,)."""
        variance = (1 - t) ** 2 + (t * self.width) ** 2
        growth = (t * self.width**2 - (1 - t)) / variance
        pull = 1 - t * growth
        share = torch.softmax(-torch.cdist(x, t * self.means).square() / (2 * variance), 1)
        mean = share @ self.means
        spread = (share * self.means.square().sum(1)).sum(1) - mean.square().sum(1)
        target = (1 + self.guidance) * self.means[labels] - self.guidance * mean
        divergence = x.shape[1] * growth - self.guidance * pull * t / variance * spread
        return growth * x + pull * target, divergence
