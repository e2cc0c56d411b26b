# %% [markdown]
# # Does my model copy?
#
# Your generated samples look good. Did the model learn, or did it store its training samples? In this
# tutorial you test it with held-out data, look at the copies, and choose a model that
# does not copy. It takes less than a minute.
#
# The data are scikit-learn's handwritten digits, and the models are mixtures of Gaussians: one with
# almost as many components as there are training samples, and one with few.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install "tradeoff[torch]"
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from tradeoff import compare, evaluate

# %% tags=["parameters"]
N = 800  # training samples, held-out samples, and samples of each model
COMPONENTS = {"small": 5, "large": 600}

# %% [markdown]
# ## Keep some data away from training
#
# The test compares the training set with samples that the model could have been trained on, but
# was not. So divide the data at random, before training.

# %%
rng = np.random.default_rng(0)
digits = rng.permutation(load_digits().data)
train, held_out = digits[:N], digits[N : 2 * N]

components = PCA(40, random_state=0).fit(train)


def generate(size):
    """Samples of a mixture with so many components, in the principal components of digits."""
    model = GaussianMixture(
        size, covariance_type="diag", init_params="random_from_data", random_state=0
    )
    return components.inverse_transform(model.fit(components.transform(train)).sample(N)[0])


generated = {name: generate(size) for name, size in COMPONENTS.items()}

# %% [markdown]
# Both models produce digits that can be recognized. The pictures do not show which of them stores its training set.

# %% mystnb={"image": {"alt": "Ten digits of the small model above ten digits of the large one; both can be recognized"}}
fig, axes = plt.subplots(2, 10, figsize=(10, 2.4))
for row, (name, made) in zip(axes, generated.items(), strict=True):
    for ax, sample in zip(row, made[rng.permutation(N)[:10]], strict=True):
        ax.imshow(sample.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(name)

# %% [markdown]
# ## Test
#
# `real` is the held-out data, and `train` the training set. Principal components of the training set
# would see the two parts differently, so we measure in pixels.

# %%
options = {"metrics": ("copies", "training"), "diagnose": False, "progress": False}
result = evaluate(held_out, generated["large"], train=train, **options)
print(result)

# %% [markdown]
# The first sentence is what is established: a lower limit of the share of samples that owe their
# closeness to the training set. The last rows are measures of the literature. They point in the same
# direction here, but they have no limits, and a model that copies a few samples only escapes them.
#
# ## Look at the copies
#
# Every pair has the generated sample, the training sample that it resembles, and the
# closest held-out sample.


# %% mystnb={"image": {"alt": "Three rows of digits: those of the model equal the training samples below, and differ from the held-out ones"}}
def number(preview):
    """Row number of a sample, which is in its name."""
    return int(preview.id.partition("[")[2].rstrip("]"))


pairs = result.copied_pairs[:10]
fig, axes = plt.subplots(3, 10, figsize=(10, 3.4))
for i, (column, pair) in enumerate(zip(axes.T, pairs, strict=False)):
    shown = {
        "generated": generated["large"][number(pair.generated)],
        "training": train[number(pair.training)],
        "held out": held_out[number(pair.held_out)],
    }
    for ax, (name, sample) in zip(column, shown.items(), strict=True):
        ax.imshow(sample.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[], ylabel=name if i == 0 else "")

# %% [markdown]
# ## Choose a model
#
# The small model is measured against the same held-out data.

# %%
both = compare(real=held_out, generated=generated, train=train, **options)
for name, evaluation in both.evaluations.items():
    print(f"{name}: {evaluation.training.sentences[0]}\n")

# %% [markdown]
# Read the second half of such a sentence, too: if nothing was found, it says which share of copies
# would have been found. A model that "depends on its training set" is closer to it than to new data, as
# every model is that was fitted to few samples, but is not shown to copy.
#
# None of this is a guarantee of privacy. [Copied or learned?](../memorization.md) says what the test shows
# and what it does not.
