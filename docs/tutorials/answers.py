# %% [markdown]
# # Are the answers of my model varied?
#
# A language model that gives a good answer may give the same one every time. In this tutorial you test
# whether several answers to one prompt are as varied as those of people, find the prompts that lose most, and
# compare two settings of a model without references. It takes about a minute.
#
# The texts are one-line descriptions of functions in NumPy, SciPy and scikit-learn, which are on your disk
# already. A prompt is their first word, such as *Return*, and an answer is the rest of the sentence. The model
# is a table that says which word follows which.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install "tradeoff[offline]"
import ast
import re
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy
import sklearn

from tradeoff import evaluate

# %% tags=["parameters"]
EACH = 12  # answers to each prompt, on each side
PROMPTS = 24

# %% [markdown]
# ## Prompts and answers of people


# %%
def descriptions(package):
    """First sentences of docstrings that consist of words."""
    for path in Path(package.__file__).parent.rglob("*.py"):
        if "tests" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
                if re.fullmatch(r"[A-Z][A-Za-z ,'-]+\.", text) and 4 <= len(text.split()) <= 14:
                    yield text


texts = sorted({text for package in (np, scipy, sklearn) for text in descriptions(package)})
by_prompt = defaultdict(list)
for text in texts:
    by_prompt[text.split()[0]].append(text)
prompts = sorted(by_prompt, key=lambda one: -len(by_prompt[one]))[:PROMPTS]
rng = np.random.default_rng(0)
people = [
    {"prompt": one, "response": by_prompt[one][i]}
    for one in prompts
    for i in rng.permutation(len(by_prompt[one]))[:EACH]
]
print(f"{len(texts):,} sentences; {len(prompts)} prompts: {', '.join(prompts)}")

# %% [markdown]
# ## A model with a temperature

# %%
follows = defaultdict(Counter)
for text in texts:
    words = [*text[:-1].split(), "."]
    for first, second in pairwise(words):
        follows[first][second] += 1


def answer(prompt, temperature):
    """A sentence that begins with the prompt."""
    words = [prompt]
    while words[-1] != "." and len(words) < 14:
        options, counts = zip(*follows[words[-1]].items(), strict=True)
        shares = np.array(counts) ** (1 / temperature)
        words.append(str(rng.choice(options, p=shares / shares.sum())))
    return " ".join(words).removesuffix(" .") + "."


def answers(temperature):
    """Several answers to each prompt."""
    return [
        {"prompt": one, "responses": [answer(one, temperature) for _ in range(EACH)]}
        for one in prompts
    ]


warm, cold = answers(1.0), answers(0.3)
print(*warm[0]["responses"][:3], "", *cold[0]["responses"][:3], sep="\n")

# %% [markdown]
# ## Compare with people
#
# Both sides are lists of rows, with one answer or several to a prompt. A file with a row on each line
# works in the same way. The encoder is installed as a package.

# %%
options = {"encoder": "all-minilm-l6-v2", "low_level": False, "metrics": "curve"}
options |= {"diagnose": False, "progress": False, "prompt": "prompt"}
result = evaluate(people, cold, **options)
print("\n\n".join(result.prompts.sentences))

# %% [markdown]
# Distances are squared, and the limits are over prompts, since answers to one prompt are not independent of
# each other. Each prompt has limits, too, and they hold for all prompts together.

# %%
for one in result.prompts.variety.prompts[:5]:
    print(f"{one.prompt:12} {one.variety:4.0%} of the variety ({one.low:.0%} to {one.high:.0%})")

# %% [markdown]
# ## Without references
#
# To compare two models, or two temperatures, with each other, pass one of them as the real side.

# %%
both = evaluate(warm, cold, **options)
print(both.prompts.variety.sentences[0])

# %% [markdown]
# So you learn what the lower temperature costs in variety. Whether its answers are better, too, only a comparison
# with people says. [Prompts](../prompts.md) has the details.
