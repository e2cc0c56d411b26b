# %% [markdown]
# # Which checkpoint is better?
#
# You have samples of several checkpoints. In this tutorial you rank them, see which differences
# are real and which may be chance, and pick one. It takes less than a minute on a laptop.
#
# The real data are scikit-learn's 1,797 images of handwritten digits. Four small generators take
# the place of your checkpoints.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install tradeoff
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from tradeoff import PRCurveDisplay, compare

# %% tags=["parameters"]
N = 1500  # samples from each checkpoint

# %% [markdown]
# ## Samples
#
# One half of the digits trains the generators. The other half is the real data that they are
# measured against: a model that only repeats its training data should not win. As features we use
# 20 principal components of the pixels; for photos you would use an image encoder.

# %%
digits = np.random.default_rng(0).permutation(load_digits().data)
train, held_out = digits[:900], digits[900:]
features = PCA(20, whiten=True, random_state=0).fit(train)


def samples_of(components, seed):
    """Features drawn from a mixture of Gaussians that was fitted to the training half."""
    model = GaussianMixture(components, reg_covar=0.01, random_state=seed)
    return model.fit(features.transform(train)).sample(N)[0]


checkpoints = {
    "A": samples_of(1, seed=0),  # one Gaussian: far too simple
    "B": samples_of(10, seed=0),
    "C": samples_of(30, seed=0),
    "D": samples_of(30, seed=1),  # like C, trained with another seed
}

# %% [markdown]
# ## Compare
#
# All checkpoints are measured against the same real samples. `metrics="curve"` measures precision
# (are the samples realistic?) and recall (is all real data covered?), and `diagnose=False` leaves
# out the controls, which say how small a loss would have been found.

# %%
comparison = compare(
    real=features.transform(held_out),
    generated=checkpoints,
    metrics="curve",
    diagnose=False,
)
comparison

# %% [markdown]
# ## Read the answer
#
# **The verdict** has one sentence for every two checkpoints, in one of two forms:
#
# * *B is better than A*, with the scores in which it is better, the size of each difference, and
#   its lower limit.
# * *Cannot be told apart with this many samples.* This does not say that the two are equal. The
#   number at the end says how large a difference in overlap must be to be found with these samples.
#
# All sentences hold together with 95% confidence. This is a correction for the number of
# comparisons: among six pairs, one can look different by chance.
#
# Overlap, F-score and area are compared. Precision and recall describe each checkpoint and are not
# ranked: they are read where the precision and the recall of that checkpoint are in balance, and this
# point differs from one checkpoint to the next.
#
# **The table of scores** lists the checkpoints in the order in which they were given. Do not
# compare two columns by their limits. All checkpoints are measured against the same real samples, so
# part of the uncertainty is common to both columns and cancels in their difference. Look at the
# paired differences instead:

# %%
print("curve.area   difference   interval         p-value")
for found in comparison.differences:
    if found.key == "curve.area":
        limits = f"[{found.low:+.2f}, {found.high:+.2f}]"
        pair = f"{found.first} minus {found.second}"
        print(f"{pair:12s} {found.value:+10.2f}   {limits}   {found.p_value:.3f}")

# %% [markdown]
# B and C differ here, although neither their overlap nor their F-score could be told apart: the
# area uses the whole curve, and finds differences that are spread over it.
#
# ## Look at the curves
#
# A curve shows the whole trade-off of a checkpoint, with a confidence band: higher and further to
# the right is better.

# %% mystnb={"image": {"alt": "Trade-off curves: A lies far below B, C and D; B lies below C and D, which cross."}}
PRCurveDisplay({name: found.curve for name, found in comparison.evaluations.items()})

# %% [markdown]
# ## Decide
#
# * **Drop A**: every other checkpoint is better, by all three scores.
# * **Drop B**: its area is smaller than that of C and of D.
# * **Take C or D.** They cannot be told apart, by any of the three scores. Take the one that is
#   cheaper, or flip a coin; do not wait for a winner.
#
# If a small difference matters to you, use more samples, of both sides: here there are only 897
# real ones. To halve the difference that can be found, take four times as many.
#
# The same from files, with a page to send to a colleague:
#
# ```console
# $ tradeoff compare --real photos --generated A=run1/samples B=run2/samples --encoder efficientnet-lite0 --report models.html
# ```
