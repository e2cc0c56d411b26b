# %% [markdown]
# # Train for the trade-off you want
#
# A small model cannot cover everything and be realistic everywhere. In this tutorial you choose for
# it: you tune the same model once for recall and once for precision, with one number, λ. It takes
# less than a minute, without a GPU.
#
# The data are three clusters in the plane and the model is a single Gaussian, so that you can see
# what happens. The loop is the one that you would use for a normalizing flow or any other model with
# a density.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install "tradeoff[torch]"
from copy import deepcopy

import torch
from matplotlib import pyplot as plt
from matplotlib.patches import Ellipse
from torch import nn

from tradeoff import PRCurveDisplay, compare
from tradeoff.training import PRLoss

# %% tags=["parameters"]
STEPS = 600  # of each tuning
N = 1500  # samples for the comparison

# %%
torch.manual_seed(0)
centers = torch.tensor([[0.0, 0.0], [3.0, 0.5], [1.0, 3.0]])
shares = torch.tensor([0.6, 0.25, 0.15])


def draw_real(n):
    """Points of three clusters, shape (n, 2)."""
    return centers[torch.multinomial(shares, n, replacement=True)] + 0.5 * torch.randn(n, 2)


class Gaussian(nn.Module):
    """A model with a density: `sample` and `log_prob` are all that tuning needs."""

    def __init__(self, x):
        super().__init__()
        root = torch.linalg.cholesky(torch.cov(x.T))
        self.mean = nn.Parameter(x.mean(0))
        self.lower = nn.Parameter(root.tril(-1))
        self.log_diagonal = nn.Parameter(root.diagonal().log())

    def distribution(self):
        root = self.lower.tril(-1) + self.log_diagonal.exp().diag()
        return torch.distributions.MultivariateNormal(self.mean, scale_tril=root)

    def sample(self, n):
        return self.distribution().sample((n,))

    def log_prob(self, x):
        return self.distribution().log_prob(x)


data = draw_real(10_000)
likelihood = Gaussian(data)  # mean and covariance of the data: maximum likelihood

# %% [markdown]
# ## A discriminator that knows the model
#
# `PRLoss` needs the ratio of real to generated density, which a discriminator learns. Train the
# discriminator alone first. `warm_start` does so until it stops improving on held-out samples.

# %%
discriminator = nn.Sequential(
    *(nn.Linear(2, 64), nn.LeakyReLU(0.2)),
    *(nn.Linear(64, 64), nn.LeakyReLU(0.2)),
    nn.Linear(64, 1),
)
duals = PRLoss(lam=1.0).warm_start(
    discriminator, real=data, generate=likelihood.sample, learning_rate=1e-2
)
print(f"{100 * len(duals):,} steps; dual from {duals[0]:.2f} to {duals[-1]:.2f}")

# %% [markdown]
# ## Tune for a λ
#
# λ above 1 asks for precision, below 1 for recall. Each step has two halves: the discriminator
# learns a little more, and the model follows `score_loss`, which uses the values of the
# discriminator and the log-density of the model.


# %%
def tune(lam):
    """The model after training for a slope λ."""
    torch.manual_seed(0)
    loss, model, critic = PRLoss(lam), deepcopy(likelihood), deepcopy(discriminator)
    ours = torch.optim.Adam(model.parameters(), 1e-2)
    theirs = torch.optim.Adam(critic.parameters(), 1e-3)
    decay = torch.optim.lr_scheduler.LinearLR(ours, 1.0, 0.0, STEPS)
    for _ in range(STEPS):
        x = torch.cat([data[torch.randint(len(data), (256,))], model.sample(256)])
        now = model.log_prob(x)
        ratio = loss.log_ratio(critic(x)[:, 0], start=likelihood.log_prob(x), now=now)
        theirs.zero_grad()
        loss.discriminator_loss(*ratio.chunk(2)).backward()
        theirs.step()
        ours.zero_grad()
        loss.score_loss(ratio, now).backward()
        ours.step()
        decay.step()
    return model


models = {"likelihood": likelihood, "λ = 0.1": tune(0.1), "λ = 10": tune(10.0)}

# %% [markdown]
# ## Look at the models
#
# Gray points are real. The ellipse holds most samples of a model: its half-axes are two standard
# deviations long.

# %% mystnb={"image": {"alt": "Three models on the same three clusters: likelihood and λ = 0.1 cover all of them and the gaps between, λ = 10 covers only the largest."}}
real = draw_real(N)
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained", sharex=True, sharey=True)
colors = ("#0072B2", "#D55E00", "#009E73")
for ax, (name, model), color in zip(axes, models.items(), colors, strict=True):
    ax.scatter(*real.T, s=3, color="0.75", linewidths=0)
    sizes, directions = torch.linalg.eigh(model.distribution().covariance_matrix.detach())
    angle = torch.rad2deg(torch.atan2(directions[1, 1], directions[0, 1])).item()
    width, height = (4 * sizes.sqrt()).flip(0).tolist()
    center = model.mean.tolist()
    ax.add_patch(Ellipse(center, width, height, angle=angle, fill=False, color=color, linewidth=2))
    ax.set(title=name, aspect="equal", xlim=(-3, 5), ylim=(-3, 5))
    ax.set_axis_off()

# %% [markdown]
# The model for λ = 10 gives up two clusters and stops generating points in the gaps. The one for
# λ = 0.1 covers everything, as maximum likelihood does already.
#
# ## Measure it
#
# The judge shares nothing with the training: `compare` fits its own classifiers on new samples.

# %%
samples = {name: model.sample(N) for name, model in models.items()}
found = compare(real=real, generated=samples, metrics="curve", diagnose=False)
print("             recall at λ = 0.1   precision at λ = 10")
for name, one in found.evaluations.items():
    print(f"{name:12s} {one.curve.recall(0.1):17.2f}   {one.curve.precision(10.0):19.2f}")

# %% mystnb={"image": {"alt": "Trade-off curves of the three models: λ = 10 is best at high precision, the others at high recall."}}
PRCurveDisplay({name: one.curve for name, one in found.evaluations.items()}).plot(
    headline=False, color=colors
)

# %% [markdown]
# ## Decide
#
# * **Precision matters** (every sample is shown to a user): tune for λ = 10. The price is visible:
#   what the model gives up is gone, and no sampling method brings it back.
# * **Recall matters** (the samples train another model): keep maximum likelihood. Here it is as good
#   as the model tuned for λ = 0.1, so tuning for recall is not worth the effort.
# * **Both matter**: keep recall in training and get precision afterwards, by dropping samples:
#   [Better samples without training](improve.ipynb).
#
# To see whether training goes well while it runs, see [Monitor training](monitor.ipynb). The
# recipe, its limits, and results on images are in [the guide](../train.md).
