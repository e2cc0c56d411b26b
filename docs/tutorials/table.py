# %% [markdown]
# # Evaluate a synthetic table
#
# You have a table of real rows and a generator of synthetic ones. In this tutorial you find out
# which rows the generator misses, fix it, and check that the fix worked. It takes less than a
# minute.
#
# The real table is scikit-learn's breast cancer data: 569 tumors, 8 measurements and a
# diagnosis each. Our generator has a common fault: the rare class is too rare.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install tradeoff pandas
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.mixture import GaussianMixture

from tradeoff import PRCurveDisplay, evaluate

# %% tags=["parameters"]
N = 1000  # synthetic rows

# %%
frame = load_breast_cancer(as_frame=True).frame
real = frame.iloc[:, :8].assign(diagnosis=np.where(frame.target == 1, "benign", "malignant"))
real.diagnosis.value_counts(normalize=True).round(2)

# %% [markdown]
# ## A generator with a fault
#
# For each diagnosis a mixture of Gaussians is fitted to the logarithms of the measurements. The
# measurements are realistic, but only 2% of the synthetic rows are malignant.
#
# The generator has seen the rows that we measure against. That is fine for a mixture with two
# components, which cannot memorize 569 rows. For a flexible model, keep some real rows
# away from training and measure against those.


# %%
def generate(malignant, n=N):
    """Rows of a synthetic table, with a given share of malignant tumors."""
    tables = []
    for diagnosis, share in (("malignant", malignant), ("benign", 1 - malignant)):
        rows = real[real.diagnosis == diagnosis].drop(columns="diagnosis")
        model = GaussianMixture(2, random_state=0).fit(np.log(rows + 0.001))
        values = np.exp(model.sample(round(n * share))[0]) - 0.001
        tables.append(pd.DataFrame(values, columns=rows.columns).assign(diagnosis=diagnosis))
    return pd.concat(tables, ignore_index=True)


synthetic = generate(malignant=0.02)
synthetic.sample(3, random_state=0).round(3)

# %% [markdown]
# ## Evaluate
#
# DataFrames are passed as they are. Numbers are scaled as in the real table, and each category
# becomes a column of its own, so numbers and categories count together.

# %%
result = evaluate(real=real, generated=synthetic, explain=True)
result

# %% [markdown]
# ## Read the answer
#
# * **Recall is lost**: at least 30% of the real rows are of a kind that the generator makes much too
#   rarely. The truth is known here: 37% of the real rows are malignant. The sentence names the groups
#   of rows that are surely among them; `explain=True` found these groups.
# * **`curve.recall` and `knn.recall` disagree**, and both are right. `knn.recall` asks whether a real
#   row has *any* synthetic row near it. `curve.recall` also asks *how often*: rows of a kind that is
#   generated much too rarely count as missed, for the most part. If you train a
#   classifier on the synthetic table, how often is what matters.
# * **No rows are copied** from the real table (`copies.of_real`).
#
# ## Which rows are missed?
#
# Groups of a table are described by a rule on two columns at most:

# %%
for group in result.explanation.missed.groups:
    known = "established" if group.is_established else "not established"
    print(f"{group.share:6.1%}  {group.name}  ({known})")

# %% [markdown]
# The first rule names the fault. The second describes large tumors with many concave points,
# most of which are malignant too. A group is *established* if its share is above zero with 95%
# confidence for all groups together.
#
# ## Fix it, and measure again
#
# The fix is one number, the share of malignant rows.

# %%
fixed = generate(malignant=(real.diagnosis == "malignant").mean())
after = evaluate(real=real, generated=fixed)
print(after.verdict)

# %% mystnb={"image": {"alt": "Trade-off curves before and after: the curve after the fix reaches the upper right corner."}}
PRCurveDisplay({"2% malignant": result.curve, "fixed": after.curve})

# %% [markdown]
# ## Decide
#
# Use the fixed generator: the difference is gone. "Not found" is not "not there", and the verdict
# says what it is worth. With 569 real rows, a loss must be as large as 42% to be found four times in
# five, by the control in which whole groups of rows are withheld. More real rows make this check stricter; more
# synthetic rows alone do not help much.
#
# A synthetic table that passes this check can still leak information on persons. `copies.of_real`
# and `knn.authenticity` find copied rows and rows that are suspiciously close to a real one, but
# they are not a guarantee of privacy.
#
# On the command line, `--label` names a column whose classes are counted one by one:
#
# ```console
# $ tradeoff evaluate --real real.csv --generated synthetic.csv --label diagnosis --report report.html
# ```
