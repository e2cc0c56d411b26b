# %% [markdown]
# # Better samples without training
#
# Some samples of your model are good, others are not. In this tutorial you keep the good ones: you
# predict how much that will help, filter a pool of samples, and then sample with a budget. It
# takes less than a minute.
#
# The model is the generator of handwritten digits from [the tutorial on knobs](knob.ipynb), with the
# knob turned to its highest value: it covers all digits, but some samples are far from any digit.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install tradeoff
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from tradeoff import PRCurveDisplay, pr_curve
from tradeoff.ratio import calibrated_ratio
from tradeoff.report import PlanDisplay
from tradeoff.sampling import BudgetedSampler, filter_pool, plan_budget

# %% tags=["parameters"]
N = 2000  # samples in the pool

# %%
digits = np.random.default_rng(0).permutation(load_digits().data)
train, held_out = digits[:900], digits[900:]
space = PCA(6, whiten=True, random_state=0).fit(train)
clusters = GaussianMixture(20, reg_covar=0.02, random_state=0).fit(space.transform(train))
roots = np.linalg.cholesky(clusters.covariances_)
rng = np.random.default_rng(1)


def generate(n):
    """Features of n digits, shape (n, 6)."""
    noise = rng.standard_normal((n, 6)) / np.sqrt(rng.chisquare(1, (n, 1)))
    noise /= np.maximum(1, np.linalg.norm(noise, axis=1, keepdims=True) / 25)
    which = rng.choice(20, n, p=clusters.weights_)
    return clusters.means_[which] + np.einsum("nij,nj->ni", roots[which], noise)


real, pool = space.transform(held_out), generate(N)

# %% [markdown]
# ## Will it help?
#
# Every sample has a *likelihood ratio*: how much more often real data occurs there than generated
# data. Samples with a low ratio are the unrealistic ones. `pr_curve` estimates the ratios, each by
# a classifier that has not seen the sample, and `plan_budget` predicts what happens if you keep
# only some samples. The *budget* is the number of draws per kept sample.

# %%
estimate = pr_curve(real=real, generated=pool)
plan = plan_budget(estimate.held_out)
print("budget   precision   recall   area")
columns = plan.headline["curve.precision"], plan.headline["curve.recall"]
for budget, precision, recall in zip(plan.budgets[:6], *columns, strict=False):
    area = plan.curve(budget).area
    print(f"{budget:6g}   {precision:9.2f}   {recall:6.2f}   {area:.2f}")

# %% mystnb={"image": {"alt": "Predicted precision and recall against draws per kept sample: precision rises quickly, recall stays high."}}
PlanDisplay(plan)

# %% [markdown]
# The first draws help most, and beyond the dotted line hardly anything is gained: we take a budget
# of 2. Recall cannot rise above what the model covers. Filtering drops samples, it does not make
# new ones.
#
# ## Filter a pool
#
# `filter_pool` keeps the best part of samples that you have already. One half of the real data
# chooses, and the other half judges, so the comparison before and after is fair.

# %%
chosen = filter_pool(real=real, generated=pool, budget=2.0)
print(f"kept {len(chosen.index):,} of {len(pool):,} samples")
for name, found in (("before", chosen.before), ("after", chosen.after)):
    curve = found.with_band()
    print(f"{name}: area {curve.area:.2f}, at most {curve.upper.area:.2f}")

# %% mystnb={"image": {"alt": "Trade-off curves of the pool before and after filtering; the one after lies above."}}
PRCurveDisplay({"before": chosen.before.with_band(), "after": chosen.after.with_band()})

# %% [markdown]
# The area rises far beyond the limit of the pool. It stays below the 0.99 that the plan predicted:
# a plan is an upper bound, because the ratios that choose the samples are estimates.

# %% mystnb={"image": {"alt": "A row of kept samples, which look like digits, and a row of dropped ones, many of which do not.", "classes": "photo"}}
dropped = np.setdiff1d(np.arange(len(pool)), chosen.index)
figure, rows = plt.subplots(2, 1, figsize=(7, 2), layout="constrained")
for ax, index, title in zip(rows, (chosen.index, dropped), ("kept", "dropped"), strict=True):
    images = space.inverse_transform(pool[index[:12]]).reshape(-1, 8, 8)
    strip = np.hstack([np.pad(image, 1) for image in images])
    ax.imshow(strip, cmap="gray", vmin=0, vmax=16, interpolation="bicubic")
    ax.set_title(title, loc="left", fontsize="medium")
    ax.set_axis_off()

# %% [markdown]
# ## Sample with a budget
#
# In production you do not filter a pool, you draw until you have enough. `BudgetedSampler` needs a
# generator and a ratio. We fit the ratio on the training digits, so that the held-out ones remain a
# fair judge.

# %%
ratio = calibrated_ratio(real=space.transform(train), generated=generate(N), estimator="trees")
sampled = BudgetedSampler(generate, ratio, budget=2.0).sample(N)
print(f"{sampled.accounting.draws:,} draws, {sampled.accounting.rate:.0%} of them kept")
print(sampled.accounting.warnings or "no warnings")
after = pr_curve(real=real, generated=sampled.samples)
print(f"area {estimate.curve.area:.2f} before, {after.curve.area:.2f} after")

# %% [markdown]
# ## Decide
#
# * **Filter**: it raises the area from 0.57 to 0.92 in the pool, for two draws per sample.
# * **Or turn the knob**: in [the other tutorial](knob.ipynb), a truncation of 4 reached a similar area
#   without any extra draws. If your model has such a knob, try it first. Both can be combined.
# * **Stop at a budget of 2.** More draws per sample would be spent for nothing, as the plan shows.
#
# On the command line:
#
# ```console
# $ tradeoff budget --real photos --generated samples --encoder efficientnet-lite0
# $ tradeoff filter --real photos --generated samples --encoder efficientnet-lite0 --budget 2 --ids kept.txt
# ```
