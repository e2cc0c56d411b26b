# %% [markdown]
# # Do my images fit their captions?
#
# A model draws what it is asked for, most of the time. Precision and recall look at images alone and
# cannot tell. In this tutorial you test whether images fit their captions, look at those that do not, and find the
# cause. It takes less than a minute.
#
# The data are scikit-learn's handwritten digits with captions such as "a handwritten seven". The model
# is played by other digits, so that its images are perfect. But it often confuses four with nine, and three
# with eight.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install "tradeoff[images]"
import csv
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from PIL import Image
from sklearn.datasets import load_digits

from tradeoff import evaluate

# %% tags=["parameters"]
N = 600  # images of the real side and of each model

# %% [markdown]
# ## Images with captions
#
# Images are in a folder, with their captions in `metadata.csv`, in a column next to `file_name`.

# %%
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
rng = np.random.default_rng(0)
data = load_digits()
order = rng.permutation(len(data.data))
real, made = order[:N], order[N : 2 * N]


def save(folder, rows, digits):
    """Write images, and their captions next to them."""
    Path(folder).mkdir()
    with open(f"{folder}/metadata.csv", "w", newline="") as file:
        captions = csv.writer(file)
        captions.writerow(("file_name", "caption"))
        for row, digit in zip(rows, digits, strict=True):
            pixels = (data.data[row].reshape(8, 8) * 15).astype(np.uint8)
            Image.fromarray(pixels).save(f"{folder}/{row}.png")
            captions.writerow((f"{row}.png", f"a handwritten {WORDS[digit]}"))


asked = data.target[made].copy()
for one, other in ((4, 9), (3, 8)):
    for drawn, wanted in ((one, other), (other, one)):
        rows = np.flatnonzero(data.target[made] == drawn)
        asked[rows[::2]] = wanted

save("real", real, data.target[real])
save("model", made, asked)
print(f"{(asked != data.target[made]).mean():.0%} of the images do not fit their captions")

# %% [markdown]
# ## Test
#
# `prompt` names the column. Here, the pixels themselves are the features, so that the notebook runs
# without a network; leave `encoder` out to use the default encoder of images.


# %%
def pixels(images):
    """Gray values of small images."""
    return np.stack([np.asarray(image)[..., 0].ravel() for image in images]).astype(float)


options = {"encoder": pixels, "metrics": "curve", "diagnose": False, "progress": False}
result = evaluate("real", "model", prompt="caption", **options)
print("\n\n".join(result.prompts.sentences))

# %% [markdown]
# The share is an estimate, and the limit is guaranteed with 95% confidence. Three parts of the report
# say where the loss is: in the captions, in the images, or in how both go together.

# %%
for name in ("of_prompts", "of_samples", "of_pairs"):
    part = getattr(result.prompts, name)
    print(f"{name:11} overlap {part.overlap:.2f}, at most {part.overlap_at_most:.2f}")

# %% [markdown]
# ## Look at the images that do not fit
#
# They are listed with the caption that they fit better, the clearest first.

# %% mystnb={"image": {"alt": "Digits with two captions each; most of those captioned as four look like nines"}}
fig, axes = plt.subplots(2, 6, figsize=(10, 4.4))
for ax, one in zip(axes.ravel(), result.prompts.mismatched, strict=False):
    ax.imshow(Image.open(f"model/{one.sample.id}"), cmap="gray")
    wanted, better = (text.rpartition(" ")[2] for text in (one.prompt, one.better))
    ax.set(xticks=[], yticks=[], title=f"asked: {wanted}\nfits: {better}")

# %%
pairs = [
    (one.prompt.rpartition(" ")[2], one.better.rpartition(" ")[2])
    for one in result.prompts.mismatched
]
kinds, counts = np.unique(pairs, axis=0, return_counts=True)
for place in np.argsort(-counts)[:3]:
    print(f"{counts[place]} images were asked for as {kinds[place][0]}, and fit {kinds[place][1]}")

# %% [markdown]
# ## Test the repaired model
#
# The same images with the captions that they fit:

# %%
save("repaired", made, data.target[made])
again = evaluate("real", "repaired", prompt="caption", **options)
print(again.prompts.sentences[0])

# %% [markdown]
# Nothing was found, so the fault was in the captions. [Prompts](../prompts.md) explains the test, and what it
# cannot show.
