# %% [markdown]
# # Choose a temperature, truncation or guidance scale
#
# Most generators have a knob that trades diversity for quality. In this tutorial you measure a
# model at several values of its knob, say what you care about, and get a value to use. It takes
# less than a minute.
#
# The model is a small generator of scikit-learn's handwritten digits. Its knob is a *truncation*:
# random noise that is longer than the truncation is drawn again. Temperature, guidance scale and
# top-p work the same way as far as this page is concerned.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install tradeoff
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from tradeoff import Above, Best, sweep
from tradeoff.report import SweepDisplay

# %% tags=["parameters"]
N = 1500  # samples at each value

# %% [markdown]
# ## A generator with a knob
#
# A digit is made of the center of one of 20 clusters and random noise, in the space of six
# principal components. The noise has heavy tails: now and then a sample ends up far from any digit.
# A low truncation prevents that, and makes all samples more alike.

# %%
digits = np.random.default_rng(0).permutation(load_digits().data)
train, held_out = digits[:900], digits[900:]
space = PCA(6, whiten=True, random_state=0).fit(train)
clusters = GaussianMixture(20, reg_covar=0.02, random_state=0).fit(space.transform(train))
roots = np.linalg.cholesky(clusters.covariances_)
rng = np.random.default_rng(1)


def generate(truncation, n):
    """Features of n digits, shape (n, 6)."""
    noise = rng.standard_normal((20 * n, 6)) / np.sqrt(rng.chisquare(1, (20 * n, 1)))
    noise = noise[np.linalg.norm(noise, axis=1) < truncation][:n]
    which = rng.choice(20, n, p=clusters.weights_)
    return clusters.means_[which] + np.einsum("nij,nj->ni", roots[which], noise)


# %% mystnb={"image": {"alt": "Twelve digits at each of three truncations: clean and alike at 1.5, varied at 4, with distorted ones among them at 25.", "classes": "photo"}}
figure, rows = plt.subplots(3, 1, figsize=(7, 2.8), layout="constrained")
for ax, truncation in zip(rows, (1.5, 4, 25), strict=True):
    images = space.inverse_transform(generate(truncation, 12)).reshape(12, 8, 8)
    strip = np.hstack([np.pad(image, 1) for image in images])
    ax.imshow(strip, cmap="gray", vmin=0, vmax=16, interpolation="bicubic")
    ax.set_title(f"truncation {truncation}", loc="left", fontsize="medium")
    ax.set_axis_off()

# %% [markdown]
# ## Sweep
#
# `sweep` measures all values against the same real data, here the digits that the model was not
# trained on. It takes samples by value, or a function such as ours: `generate=generate,
# values=values, n=N`.

# %%
real = space.transform(held_out)
samples = {truncation: generate(truncation, N) for truncation in (1.5, 2, 2.5, 4, 8, 25)}
found = sweep(real=real, generated=samples)
print(found)

# %% [markdown]
# Read the table from top to bottom. More noise first brings **recall**: more and more of the real
# digits are covered. Then it costs **precision**: from 8 on, some samples are far from any digit.
#
# Without a goal, the value with the largest area under its curve is recommended, which weighs
# precision and recall alike. Precision and recall are read at the same slopes λ for all values. The
# limits of all values hold together with 95% confidence.

# %% mystnb={"image": {"alt": "Path of the model in the plane of recall and precision: to the right from 1.5 to 4, then down to 25. The point at 4 is the best."}}
SweepDisplay(found)

# %% [markdown]
# Filled points are those that no other value beats in both numbers (column *Pareto*).
#
# ## Say what you care about
#
# Choose for `Best("area")`, for `Best("precision", lam=2)` (λ above 1 favors precision, below 1
# recall), or with a condition like this one:

# %%
goal = Best("precision", given=Above("recall", 0.8))
chosen = sweep(real=real, generated=samples, goal=goal)
for sentence in chosen.sentences:
    print(sentence)

# %% [markdown]
# Three sentences, three kinds of knowledge:
#
# * which value fits best by the measured numbers;
# * which other values cannot be distinguished from it with this many samples (`chosen.alike`);
# * which values are ruled out, because they surely violate the condition (`chosen.refuted`).
#
# ## Decide
#
# Use a truncation of 4. It has the largest area, better than every other value with 95% confidence,
# and it fits the goal. Below 2.5 diversity is lost; do not go there for nicer pictures. If you need a finer
# choice, say between 3 and 5, sweep these values with more samples.
#
# On the command line, with a folder of samples for each value:
#
# ```console
# $ tradeoff sweep --real photos --generated 0.7=t07 0.8=t08 0.9=t09 --encoder efficientnet-lite0 --plot path.png
# ```
