# %% [markdown]
# # Monitor training
#
# A loss curve of a GAN does not say whether the model gets better. In this tutorial you log precision
# and recall while the model trains, learn when not to believe them, and check the result
# with held-out data. It takes less than a minute, without a GPU.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install "tradeoff[torch,torchmetrics]"
import torch
from matplotlib import pyplot as plt
from torch import nn

from tradeoff.integrations.torchmetrics import TradeoffMetric
from tradeoff.training import Monitor, PRLoss

# %% tags=["parameters"]
STEPS = 1500
N = 1500  # samples for the check

# %%
torch.manual_seed(0)
centers = torch.tensor([[0.0, 0.0], [3.0, 0.5], [1.0, 3.0]])


def draw_real(n):
    """Points of three clusters, shape (n, 2)."""
    return centers[torch.randint(3, (n,))] + 0.5 * torch.randn(n, 2)


def network(inputs, outputs):
    """A small network."""
    return nn.Sequential(
        *(nn.Linear(inputs, 64), nn.LeakyReLU(0.2)),
        *(nn.Linear(64, 64), nn.LeakyReLU(0.2)),
        nn.Linear(64, outputs),
    )


generator, discriminator = network(4, 2), network(2, 1)


def generate(n):
    """Samples of the model, shape (n, 2)."""
    return generator(torch.randn(n, 4))


# %% [markdown]
# ## Two instruments
#
# * `Monitor` needs nothing but the outputs of the discriminator, which every step computes anyway. It
#   costs almost nothing, and it is only as good as the discriminator.
# * `TradeoffMetric` fits its own classifiers on samples that the training has not seen. It takes a
#   second or more, so call it now and then. It is a metric of torchmetrics, and adds up over
#   processes.

# %%
loss = PRLoss(lam=1.0)
monitor = Monitor(loss, window=50)
metric = TradeoffMetric(metrics=("curve",), reset_real=False)
metric.update(draw_real(N), real=True)  # held out: never used for training
ours = torch.optim.Adam(generator.parameters(), 5e-4, betas=(0.5, 0.999))
theirs = torch.optim.Adam(discriminator.parameters(), 1e-3, betas=(0.5, 0.999))


def train_step():
    """One step of a GAN; the monitor sees the outputs before the discriminator learns from them."""
    outputs = discriminator(draw_real(256)), discriminator(generate(256).detach())
    monitor.update(*outputs)
    theirs.zero_grad()
    loss.discriminator_loss(*outputs).backward()
    theirs.step()
    ours.zero_grad()
    loss.generator_loss(discriminator(generate(256))).backward()
    ours.step()


@torch.no_grad()
def check():
    """Precision at λ = 1 by an independent judge."""
    metric.reset()  # forgets the generated samples
    metric.update(generate(N), real=False)
    metric.compute()
    return metric.last.curve.precision(1.0)


# %% [markdown]
# ## Train and log

# %%
log, checks = {}, {}
for step in range(1, STEPS + 1):
    train_step()
    if step % 50 == 0:
        log[step] = monitor.compute()
    if step % (STEPS // 6) == 0:
        checks[step] = check()

print("step   monitor   check   dual")
for step, checked in checks.items():
    found = log[step]
    print(f"{step:4d}   {found['precision']:7.2f}   {checked:5.2f}   {found['dual']:.2f}")
print(*monitor.warnings() or ("no warnings",), sep="\n")

# %% mystnb={"image": {"alt": "Precision at λ = 1 by training step: the line of the monitor lies above the points of the independent check."}}
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(list(log), [found["precision"] for found in log.values()], color="#0072B2")
ax.plot(list(checks), list(checks.values()), "o--", color="#D55E00")
last = max(checks)
for name, value, color in (
    ("monitor", log[last]["precision"], "#0072B2"),
    ("check", checks[last], "#D55E00"),
):
    ax.annotate(f"  {name}", (last, value), color=color, va="center")
ax.set(xlabel="step", ylabel="precision at λ = 1", ylim=(0, 1), xlim=(0, 1.15 * STEPS))
ax.set_title("The monitor is too optimistic", loc="left")
ax.spines[["top", "right"]].set_visible(False)

# %% [markdown]
# ## Read the picture
#
# At λ = 1 precision and recall are the same number, so one line is enough.
#
# * **The monitor is an upper bound.** What the discriminator does not see does not count. It learns
#   from a model that changes at every step, so it lags behind.
# * **The shape is informative, the level is not.** Use the line to notice a collapse or a
#   pause at once. Use the check to decide.
# * **`monitor.warnings()`** says when the line has no meaning at all: when no sample has a gradient,
#   or when the discriminator still learns so fast that the figures are too good.
#
# ## Decide
#
# Stop when the check no longer improves, and keep the checkpoint with the best check. Two
# checks that differ by a few hundredths may differ by chance:
# [Which checkpoint is better?](checkpoints.ipynb) shows how to tell.
#
# With Lightning, a callback does the same and sends the scores to every logger:
#
# ```python
# from tradeoff.integrations.lightning import TradeoffCallback
#
# check = TradeoffCallback(real=held_out, generate=lambda module: module.sample(1500), every=5)
# trainer = Trainer(callbacks=[check])
# ```
