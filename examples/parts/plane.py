"""Mixtures of Gaussians in the plane with their densities, and a flow of known Lipschitz constants.

Distributions are sums over an even grid wherever that is possible.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from scipy.stats import ncx2
from torch import nn

from examples.parts.loop import descend
from tradeoff.training import likelihood_loss


def make_grid(limit: float, side: int) -> torch.Tensor:
    """Places of an even grid in a square, shape (side², 2)."""
    line = torch.linspace(-limit, limit, side)
    return torch.cartesian_prod(line, line)


def masses(log_density: torch.Tensor) -> np.ndarray:
    """Masses of the cells of an even grid, which sum to 1, from log-densities of shape (n,)."""
    values = torch.softmax(log_density.double(), 0)
    return np.asarray(values.numpy())


class PlaneMixture(NamedTuple):
    """A mixture of round Gaussians of equal weight.

    Args:
        centers: Mean of each Gaussian, shape (k, 2).
        widths: Standard deviation of each Gaussian in every direction, shape (k,).
    """

    centers: torch.Tensor
    widths: torch.Tensor

    def sample(self, n: int) -> torch.Tensor:
        """Independent samples by the global generator of PyTorch, shape (n, 2)."""
        which = torch.randint(len(self.centers), (n,))
        return self.centers[which] + self.widths[which, None] * torch.randn(n, 2)

    def log_density(self, x: torch.Tensor) -> torch.Tensor:
        """Log-density at places of shape (n, 2), shape (n,)."""
        squares = (x[:, None] - self.centers).square().sum(2) / (2 * self.widths**2)
        parts = -squares - 2 * self.widths.log()
        return torch.logsumexp(parts, 1) - math.log(2 * math.pi * len(self.centers))

    def ball(self, center: np.ndarray, radii: np.ndarray) -> np.ndarray:
        """Mass of the balls of several radii around a place, shape of the radii."""
        widths = self.widths.double().numpy()
        squares = np.square(self.centers.double().numpy() - center).sum(1)
        inside = ncx2.cdf((radii[:, None] / widths) ** 2, 2, squares / widths**2 + 1e-12)
        return np.asarray(inside.mean(1))


def ring(n: int, *, radius: float, width: float) -> PlaneMixture:
    """Gaussians on a circle."""
    angles = 2 * torch.pi * torch.arange(n) / n
    centers = radius * torch.stack((angles.cos(), angles.sin()), 1)
    return PlaneMixture(centers, torch.full((n,), width))


class ResidualFlow(nn.Module):
    """From data to noise by blocks x + f(x), with f of Lipschitz constant L below 1.

    The inverse, from noise to data, is the generator. Its Lipschitz constant is at most
    (1 - L)⁻ᵏ for k blocks, and that of the flow itself at most (1 + L)ᵏ.

    Args:
        lipschitz: Constant L of each block.
        blocks: Number of blocks k.
        width: Number of hidden units of a block.
    """

    def __init__(self, lipschitz: float, *, blocks: int = 3, width: int = 48) -> None:
        super().__init__()
        self.lipschitz = lipschitz
        self.inner = nn.ModuleList([nn.Linear(2, width) for _ in range(blocks)])
        self.outer = nn.ModuleList([nn.Linear(width, 2) for _ in range(blocks)])

    def residual(self, block: int, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What a block adds to places, shape (n, 2), and the Jacobian of that, shape (n, 2, 2)."""
        first, second = (
            layers[block].get_parameter("weight") for layers in (self.inner, self.outer)
        )
        norms = torch.linalg.matrix_norm(first, 2) * torch.linalg.matrix_norm(second, 2)
        second = second * self.lipschitz / norms
        hidden = torch.tanh(self.inner[block](x))
        jacobian = torch.einsum("ok,nk,ki->noi", second, 1 - hidden**2, first)
        return hidden @ second.T + self.outer[block].get_parameter("bias"), jacobian

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Noise of data, shape (n, 2), and the Jacobian, shape (n, 2, 2)."""
        total = torch.eye(2).expand(len(x), 2, 2)
        for block in range(len(self.inner)):
            added, jacobian = self.residual(block, x)
            x, total = x + added, total + jacobian @ total
        return x, total

    def log_prob(self, x: torch.Tensor) -> torch.Tensor:
        """Log-density of data, shape (n,)."""
        z, jacobian = self.forward(x)
        volume: torch.Tensor = torch.linalg.det(jacobian).abs().log()
        return volume - 0.5 * z.square().sum(1) - math.log(2 * math.pi)

    @torch.no_grad()
    def generate(self, z: torch.Tensor) -> torch.Tensor:
        """Data of noise, shape (n, 2): each block is inverted by iteration."""
        for block in reversed(range(len(self.inner))):
            x = z
            for _ in range(200):
                x = z - self.residual(block, x)[0]
            z = x
        return z


def train_residual(target: PlaneMixture, lipschitz: float, *, steps: int) -> ResidualFlow:
    """A residual flow after maximum likelihood on fresh samples."""
    torch.manual_seed(0)
    flow = ResidualFlow(lipschitz)
    optimizer = torch.optim.Adam(flow.parameters(), 5e-3, fused=True)
    for _ in range(steps):
        descend(optimizer, likelihood_loss(flow.log_prob(target.sample(256))))
    return flow
