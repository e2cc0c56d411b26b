# %% [markdown]
# # Choose a temperature for a language model
#
# A low temperature makes texts safe and alike, a high one makes them varied and wild. In this
# tutorial you train a tiny language model, measure it at several temperatures, and choose one. It
# takes two minutes on a laptop, without a GPU.
#
# The texts are one-line descriptions of functions in NumPy, SciPy and scikit-learn, such as *Return the
# maximum of an array.* They are on your disk already.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install "tradeoff[offline]"
import ast
import re
from collections import Counter
from pathlib import Path

import numpy as np
import scipy
import sklearn
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from tradeoff import sweep
from tradeoff.report import SweepDisplay

# %% tags=["parameters"]
N = 400  # texts at each temperature
EPOCHS = 15  # of the training
SEED = 0

# %% [markdown]
# ## Texts
#
# Most of the sentences train the model. The others are the real data that it is measured against.


# %%
def descriptions(package):
    """First sentences of docstrings that consist of words."""
    for path in Path(package.__file__).parent.rglob("*.py"):
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
                if re.fullmatch(r"[A-Z][A-Za-z ,'-]+\.", text) and 4 <= len(text.split()) <= 12:
                    yield text


texts = sorted({text for package in (np, scipy, sklearn) for text in descriptions(package)})
counts = Counter(word for text in texts for word in text[:-1].split())
texts = [text for text in texts if min(counts[word] for word in text[:-1].split()) > 2]
texts = [texts[i] for i in np.random.default_rng(SEED).permutation(len(texts))]
real, train = texts[:N], texts[N:]
print(f"{len(train):,} texts for training, {len(real):,} to measure against, for example:")
print("\n".join(real[:3]))

# %% [markdown]
# ## A tiny model
#
# A GPT-2 with two layers whose tokens are whole words.

# %%
torch.manual_seed(SEED)
words = ["<end>", *sorted({word for text in texts for word in text[:-1].split()})]
number = {word: i for i, word in enumerate(words)}
rows = torch.zeros(len(train), 14, dtype=torch.long)  # <end> before and after a text
labels = torch.full_like(rows, -100)  # no loss beyond the end
for i, text in enumerate(train):
    line = [0, *(number[word] for word in text[:-1].split()), 0]
    rows[i, : len(line)] = labels[i, : len(line)] = torch.tensor(line)

sizes = {"n_positions": 14, "n_embd": 64, "n_layer": 2, "n_head": 4}
special = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
config = GPT2Config(vocab_size=len(words), **sizes, **special)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
for _ in range(EPOCHS):
    for batch in torch.randperm(len(rows)).split(128):
        loss = model(
            rows[batch], attention_mask=torch.ones_like(rows[batch]), labels=labels[batch]
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"{len(words):,} words, loss {loss.item():.2f}")


# %%
def generate(temperature, n):
    """Texts of the model."""
    start = torch.zeros(n, 1, dtype=torch.long)
    options = {"do_sample": True, "top_k": 0, "max_new_tokens": 13}
    model.eval()
    found = model.generate(
        start, attention_mask=torch.ones_like(start), temperature=temperature, **options
    )
    return [" ".join(words[i] for i in row if i) + "." for row in found.tolist()]


samples = {temperature: generate(temperature, N) for temperature in (0.3, 0.6, 1.0, 1.4)}
for temperature, made in samples.items():
    print(f"temperature {temperature}:", *made[:3], sep="\n  ")

# %% [markdown]
# ## Sweep
#
# Texts are passed as lists of strings, by temperature. The encoder is installed as a package. We
# also measure two neighbor metrics, to compare with below.

# %%
metrics = ("curve", "knn.precision", "knn.recall")
found = sweep(real=real, generated=samples, encoder="all-minilm-l6-v2", metrics=metrics)
print(found)

# %% mystnb={"image": {"alt": "Path of the model in the plane of recall and precision: from low values of both at 0.3 up to the corner at 1.0, and back down at 1.4."}}
SweepDisplay(found)

# %% [markdown]
# ## Read the path
#
# The usual story is that precision falls and recall rises with the temperature. That is only part of
# what you see here:
#
# * **At 0.3** both are low. The texts are correct, but the same few sentences come again and again.
#   Samples that occur much too often lower precision, even if each of them is correct.
# * **From 0.3 to 1.0** both rise.
# * **From 1.0 to 1.4** precision falls, since the words no longer fit together. Recall falls too:
#   so many samples are nonsense that each kind of real sentence becomes rarer.
#
# Neighbor metrics tell the usual story, because they do not ask how often a sample occurs. A text
# counts as realistic if it lies near any real one:

# %%
print("temperature   knn.precision   knn.recall")
for temperature, one in found.comparison.evaluations.items():
    numbers = [one[key].value for key in ("knn.precision", "knn.recall")]
    print(f"{temperature:11s}   {numbers[0]:13.2f}   {numbers[1]:10.2f}")

# %% [markdown]
# ## Decide
#
# * **To imitate the data**, take 1.0. It is better than every other temperature, with 95% confidence.
# * **If single texts must be correct** and repetition does no harm, 0.6 is a compromise: by the
#   neighbor metrics, its texts are as realistic as those at 0.3, and more varied.
# * **Never judge a low temperature by a few texts.** They look best one by one at 0.3, and as a
#   collection they are the worst.
#
# With a few hundred texts the limits are far from the values. `top_p` and other knobs are measured in the same
# way: pass tuples such as `(temperature, top_p)` as values.
