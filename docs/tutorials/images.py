# %% [markdown]
# # Evaluate an image model
#
# You have a folder of real images and a folder of generated ones. In this tutorial you find out
# how good the model is, what it does wrong, and what to do next. It takes about two minutes.
#
# The real images are scikit-learn's handwritten digits. The "model" is made of other digits, with
# two faults that we know: it **never generates a 4 or a 7**, and **one image in five is noise**. So
# you can check every answer.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install "tradeoff[images,offline]"
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from PIL import Image
from sklearn.datasets import load_digits

from tradeoff import evaluate
from tradeoff.features.offline import EfficientNetLite0

# %% tags=["parameters"]
N = 898  # images of each side: half of the data

# %% [markdown]
# ## Two folders of images
#
# tradeoff reads a folder as it is. If real images are in one subfolder per class, the names of the
# subfolders are used as labels. Generated images need no labels.

# %%
digits = load_digits()
rng = np.random.default_rng(0)
order = rng.permutation(len(digits.images))
pixels, labels = (digits.images[order] * 15).astype(np.uint8), digits.target[order]


def save(image, path):
    """Write an image of 8 × 8 gray pixels as a color image of 32 × 32 pixels."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).resize((32, 32), Image.Resampling.BICUBIC).convert("RGB").save(path)


for i in range(N):
    save(pixels[i], Path("real", str(labels[i]), f"{i}.png"))

for i in range(N, 2 * N):
    if labels[i] in (4, 7):
        continue
    noise = rng.integers(0, 256, (8, 8), dtype=np.uint8)
    save(noise if rng.random() < 0.2 else pixels[i], Path("generated", f"{i}.png"))

# %% mystnb={"image": {"alt": "Two rows of small images: real digits, and generated ones, among them noise.", "classes": "photo"}}
figure, grid = plt.subplots(2, 12, figsize=(8, 1.8), layout="constrained")
for row, side in zip(grid, ("real", "generated"), strict=True):
    row[0].set_title(side, loc="left", fontsize="medium")
    for ax, path in zip(row, sorted(Path(side).rglob("*.png"))[::60], strict=False):
        ax.imshow(Image.open(path))
    for ax in row:
        ax.set_axis_off()

# %% [markdown]
# ## Evaluate
#
# An *encoder* turns images into features, and everything is measured on these features. The
# default is DINOv2, which is downloaded when it is first used. Here we use a small encoder that is
# installed as a package. Digits have little detail, so 128 pixels are enough; for photos keep its
# default of 224. `explain=True` also looks for groups of images that the model misses or invents.

# %%
result = evaluate(
    real="real",
    generated="generated",
    encoder=EfficientNetLite0(size=128),
    explain=True,
)
result

# %% [markdown]
# ## Read the answer
#
# **The verdict** comes first. It found both faults: precision is lost (the noise), and recall is
# lost (the missing digits). "At least" is a lower confidence limit, not an estimate: the true shares
# are 20% of the generated images, and about 20% of the real ones. The missing digits are named. So is
# a class for the unrealistic images: the generated images have no labels, and this is the digit that
# a classifier takes the noise for.
#
# **The table**: compare each score with *expected*, which is what real images would get in place of
# the generated ones.
#
# | row | what it says here |
# |---|---|
# | `curve.precision` | Share of generated images that look realistic. The truth is 0.8. |
# | `curve.recall` | Share of the real data that the model covers. The truth is 0.8. |
# | `knn.*` | Published neighbor metrics. All but `knn.authenticity` are below their expected values as well. |
# | `frechet.distance` | FID with these features. With so few images it is biased, as the warning says. |
# | `copies.*` | No image was copied from the real data. |
#
# Why is the measured recall higher than the truth? Precision and recall of the curve are **upper
# bounds**: a fault counts only as far as the features tell it apart from real data. The small
# encoder confuses some digits, so part of the loss stays hidden. A stronger encoder or more images
# can bring the bound closer to the truth.
#
# ## See what is wrong
#
# `result.explanation` names the groups. Images are labeled by a classifier that was trained on
# the real ones, since our generated images have no labels.

# %%
explanation = result.explanation
losses = [loss for loss in (explanation.missed, explanation.invented) if loss is not None]
for loss in losses:
    word = "missed" if loss.kind == "recall" else "invented"
    for group in loss.groups:
        known = "established" if group.is_established else "not established"
        print(f"{word}: {group.name}, {group.share:.1%} of the images ({known})")

# %% mystnb={"image": {"alt": "Missed: images of the digits 4 and 7. Invented: images of noise.", "classes": "photo"}}
figure, grid = plt.subplots(len(losses), 8, figsize=(8, 2.4), layout="constrained", squeeze=False)
for row, loss in zip(grid, losses, strict=True):
    side = "real" if loss.kind == "recall" else "generated"
    title = "real, but missed" if side == "real" else "generated, but not realistic"
    row[0].set_title(title, loc="left", fontsize="medium")
    for ax, example in zip(row, loss.groups[0].examples, strict=False):
        ax.imshow(Image.open(Path(side, example.sample.id)))
    for ax in row:
        ax.set_axis_off()

# %% [markdown]
# The classes say the same in numbers:

# %%
print("digit   share of real   share of generated   missed")
for found in sorted(explanation.classes, key=lambda found: -found.missed)[:4]:
    print(f"{found.name:5s}   {found.real:13.1%}   {found.generated:18.1%}   {found.missed:6.1%}")

# %% [markdown]
# The page `report.html` shows all of this, with the most similar images of the other side. It is one
# file that you can send to a colleague; it contains images of both folders.

# %%
result.report("report.html")

# %% [markdown]
# ## Decide
#
# * **Missing digits**: look at the training data and the labels of 4 and 7 first. More training
#   with the same data does not bring back a class that the model never sees. No setting at
#   sampling time can restore it either.
# * **Noise**: drop the least realistic images. [Better samples](improve.ipynb) shows how, and
#   the report says what to expect from it.
# * **Then measure again**, with the same real images: [Which checkpoint is better?](checkpoints.ipynb)
#
# On the command line:
#
# ```console
# $ tradeoff evaluate --real real --generated generated --encoder efficientnet-lite0 --size 128 --report report.html
# ```
