"""Images through an autoencoder, and a flow of its latents that is too simple for them.

Images are tensors of shape (n, 1, 28, 28) with values between -1 and 1; latents have shape (n, 16)
and are whitened, so that the flow begins as a standard normal distribution.
"""

import math
from copy import deepcopy
from itertools import pairwise

import torch
from torch import nn

from examples.parts.loop import descend
from tradeoff._progress import track
from tradeoff.training import Loss, NonSaturatingLoss, likelihood_loss

LATENTS = 16


class Autoencoder(nn.Module):
    """An autoencoder 784-512-256-16 whose latents are whitened after training."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), make_network(784, 512, 256, LATENTS))
        self.decoder = nn.Sequential(
            make_network(LATENTS, 256, 512, 784), nn.Tanh(), nn.Unflatten(1, (1, 28, 28))
        )
        self.register_buffer("center", torch.zeros(LATENTS))
        self.register_buffer("axes", torch.eye(LATENTS))

    @torch.no_grad()
    def encode(self, images: torch.Tensor) -> torch.Tensor:
        """Whitened latents of images."""
        latents = torch.cat([self.encoder(part) for part in images.split(1000)])
        return torch.linalg.solve(self.axes, latents - self.center, left=False)

    @torch.no_grad()
    def decode(self, latents: torch.Tensor) -> torch.Tensor:
        """Images of whitened latents."""
        return torch.cat(
            [self.decoder(part @ self.axes + self.center) for part in latents.split(1000)]
        )


def make_network(*widths: int) -> nn.Sequential:
    """A network of linear layers of these widths."""
    layers: list[nn.Module] = []
    for narrow, wide in pairwise(widths):
        layers += [nn.SiLU(), nn.Linear(narrow, wide)]
    return nn.Sequential(*layers[1:])


def train_autoencoder(images: torch.Tensor, *, steps: int, seed: int) -> Autoencoder:
    """An autoencoder that withstands a little noise in its latents."""
    torch.manual_seed(seed)
    network = Autoencoder()
    optimizer = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=1e-4, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    for _ in track(range(steps), "training an autoencoder"):
        x = batch_of(images, 128)
        z = network.encoder(x)
        difference = network.decoder(z + 0.1 * torch.randn_like(z)) - x
        # Without a scale of its own, the latents would outgrow the noise.
        scale = (z.square().mean(0) - 1).square().mean() + z.mean(0).square().mean()
        descend(optimizer, difference.abs().mean() + difference.square().mean() + 1e-3 * scale)
        schedule.step()
    latents = network.eval().encode(images)
    values, vectors = torch.linalg.eigh(torch.cov(latents.T))
    network.center.copy_(latents.mean(0))
    network.axes.copy_(values.sqrt()[:, None] * vectors.T)
    return network


class Coupling(nn.Module):
    """Shifts and scales one half of the latents by a function of the other half."""

    def __init__(self, width: int, *, flip: bool) -> None:
        super().__init__()
        self.flip = flip
        self.network = make_network(LATENTS // 2, width, width, LATENTS)
        for parameter in self.network[-1].parameters():
            nn.init.zeros_(parameter)

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """From noise to latents."""
        kept, moved = (z.flip(1) if self.flip else z).chunk(2, 1)
        shift, log_scale = self._shift_and_scale(kept)
        return torch.cat((kept, moved * log_scale.exp() + shift), 1)

    def inverse(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From latents to noise, and the log-determinant of this step."""
        kept, moved = x.chunk(2, 1)
        shift, log_scale = self._shift_and_scale(kept)
        z = torch.cat((kept, (moved - shift) * (-log_scale).exp()), 1)
        return (z.flip(1) if self.flip else z), -log_scale.sum(1)

    def _shift_and_scale(self, kept: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        shift, log_scale = self.network(kept).chunk(2, 1)
        return shift, 2 * torch.tanh(log_scale / 2)


class Flow(nn.Module):
    """A RealNVP of two affine couplings."""

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.couplings = nn.ModuleList([Coupling(width, flip=i > 0) for i in range(2)])

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        """From noise to latents, shape (n, 16)."""
        for coupling in self.couplings:
            z = coupling(z)
        return z

    def log_prob(self, x: torch.Tensor) -> torch.Tensor:
        """Log-density of latents, shape (n,)."""
        total = torch.zeros(len(x))
        for coupling in reversed(self.couplings):
            x, change = coupling.inverse(x)
            total = total + change
        return total - 0.5 * x.square().sum(1) - 0.5 * LATENTS * math.log(2 * math.pi)

    @torch.no_grad()
    def sample(self, n: int, temperature: float = 1.0) -> torch.Tensor:
        """Latents of n samples; a temperature below 1 truncates the noise softly."""
        return self(temperature * torch.randn(n, LATENTS))


def train_likelihood(
    flow: Flow, latents: torch.Tensor, *, steps: int, rate: float, batch: int
) -> Flow:
    """The flow after so many more steps of maximum likelihood."""
    flow = deepcopy(flow)
    optimizer = torch.optim.Adam(flow.parameters(), rate, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    for _ in track(range(steps), "maximum likelihood"):
        descend(optimizer, likelihood_loss(flow.log_prob(batch_of(latents, batch))))
        schedule.step()
    return flow


def train_discriminator(flow: Flow, latents: torch.Tensor, *, steps: int) -> nn.Module:
    """A discriminator that has seen a flow for so many steps, at a rate that falls to a fifth."""
    network, loss = make_network(LATENTS, 192, 192, 1), NonSaturatingLoss()
    optimizer = torch.optim.Adam(network.parameters(), 1e-3, betas=(0.5, 0.99), fused=True)
    decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.2, steps)
    for _ in track(range(steps), "training a discriminator"):
        outputs = network(batch_of(latents, 256)), network(flow.sample(256))
        descend(optimizer, loss.discriminator_loss(*outputs))
        decay.step()
    return network


class Tuned:
    """A flow with a log-ratio that knows it.

    Args:
        flow: Flow to sample from.
        start: Flow with which the discriminator began.
        discriminator: Network that knows log p/q of the first flow.
    """

    def __init__(self, flow: Flow, start: Flow, discriminator: nn.Module) -> None:
        self.flow, self.start, self.discriminator = flow, start, discriminator

    @torch.no_grad()
    def log_ratio(self, x: torch.Tensor) -> torch.Tensor:
        """Log p/q of latents for the flow as it is now, shape (n,)."""
        return self.discriminator(x)[:, 0] + self.start.log_prob(x) - self.flow.log_prob(x)


def tune(
    start: Flow,
    discriminator: nn.Module,
    latents: torch.Tensor,
    loss: Loss,
    *,
    steps: int,
    batch: int = 512,
    knows_flow: bool = True,
    by_score: bool = True,
) -> Tuned:
    """Tune a flow for a loss; what comes back are running means of the weights.

    Args:
        start: Flow to begin with.
        discriminator: Network that knows log p/q of this flow.
        latents: Latents of real images, shape (n, 16).
        loss: Loss of both networks.
        steps: Number of steps.
        batch: Number of samples of each side in a step.
        knows_flow: Whether the ratio is corrected for how the flow has changed.
        by_score: Whether to use the score loss, or the gradient of the discriminator.
    """
    flow, discriminator = deepcopy((start, discriminator))
    frozen = deepcopy(flow).requires_grad_(False)
    mean = torch.optim.swa_utils.AveragedModel(
        flow, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99)
    )
    ours = torch.optim.Adam(flow.parameters(), 2e-3, betas=(0.9, 0.99), fused=True)
    theirs = torch.optim.Adam(discriminator.parameters(), 3e-4, betas=(0.5, 0.99), fused=True)
    decays = [torch.optim.lr_scheduler.LinearLR(one, 1.0, 0.1, steps) for one in (ours, theirs)]
    for _ in track(range(steps), "tuning"):
        x = torch.cat((batch_of(latents, batch), flow.sample(batch)))
        log_density = flow.log_prob(x)
        log_ratio = discriminator(x)[:, 0]
        if knows_flow:
            with torch.no_grad():
                before = start.log_prob(x)
            log_ratio = loss.log_ratio(log_ratio, start=before, now=log_density)
        descend(theirs, loss.discriminator_loss(*log_ratio.chunk(2)))
        if by_score:
            descend(ours, loss.score_loss(log_ratio, log_density))
        else:
            made = flow(torch.randn(batch, LATENTS))
            outputs = discriminator(made)[:, 0]
            if knows_flow:
                frozen.load_state_dict(flow.state_dict())
                outputs = outputs + start.log_prob(made) - frozen.log_prob(made)
            descend(ours, loss.generator_loss(outputs))
        mean.update_parameters(flow)
        for decay in decays:
            decay.step()
    return Tuned(mean.module, start, discriminator)


def batch_of(values: torch.Tensor, n: int) -> torch.Tensor:
    """So many random rows."""
    return values[torch.randint(len(values), (n,))]
