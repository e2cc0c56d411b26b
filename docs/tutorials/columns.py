# %% [markdown]
# # Is my synthetic table good?
#
# You have a table of real rows and a generator of synthetic ones. In this tutorial you find out
# which columns and which pairs of columns are wrong, use that to improve the generator three times,
# and end with a gate for your pipeline. It takes about two minutes.
#
# The real table is `palmerpenguins`: 344 penguins with their species, island, sex, year and four
# measurements, some of which are missing.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install tradeoff pandas palmerpenguins
import numpy as np
import pandas as pd
from palmerpenguins import load_penguins
from scipy.stats import norm

from tradeoff import evaluate

# %% tags=["parameters"]
N = 1000  # synthetic rows

# %%
real = load_penguins()
print(f"{len(real)} rows")
real.head(3)

# %% [markdown]
# ## Say what the columns hold
#
# `year` is written as a number and has three values. To compare it as a category, declare it in the
# format of SDV's `metadata.json`. Dates are declared in the same way, and identifiers are left out.
# Without a schema, a column is a number if all of its values are numbers.

# %%
numbers = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
schema = {
    "columns": {
        name: {"sdtype": "numerical" if name in numbers else "categorical"} for name in real
    }
}

# %% [markdown]
# ## A generator that knows each column
#
# The simplest generator draws every column by itself from the real values.

# %%
rng = np.random.default_rng(0)


def quantiles(column, share):
    """Values of a column at these shares, missing values included."""
    values = column.sort_values(na_position="last").to_numpy()
    return values[(share * len(values)).astype(int)]


def independent(n):
    """Rows whose columns are right and know nothing of each other."""
    return pd.DataFrame({name: quantiles(real[name], rng.random(n)) for name in real})


def check(synthetic):
    """All that is said about the columns, and how useful the rows are to predict the species."""
    found = evaluate(
        real, synthetic, schema=schema, target="species", diagnose=False, progress=False
    )
    print(*found.table.sentences, sep="\n")
    return found


first = check(independent(N))

# %% [markdown]
# "Each column looks right" is what a report on single columns would end with. The second half of
# the sentence names pairs whose dependence is lost. The last sentence says what that costs: a
# classifier that is trained on the synthetic rows does not recognize a species.
#
# Every statement holds with 95% confidence for all columns, and for all pairs, together. `pairs`
# has the figures, the strongest first: a lower limit of the difference, and how strong the dependence
# is on both sides.

# %%
for pair in first.table.pairs[:3]:
    print(
        f"{pair.first} and {pair.second}: at least {pair.at_least:.0%}, "
        f"strength {pair.real:.2f} in real rows, {pair.generated:.2f} in synthetic ones"
    )

# %% [markdown]
# ## A generator that knows correlations
#
# A Gaussian copula turns every column into normal scores, and draws rows with the same
# correlations. It is the default of several packages.


# %%
def copula(rows, n):
    """Rows with the columns of a table and the correlations of their normal scores."""
    plain = rows.apply(lambda column: column.astype(object).fillna("missing").astype(str))
    plain[numbers] = rows[numbers]
    ranks = plain.rank(method="first", na_option="bottom")
    scores = norm.ppf((ranks - 0.5) / len(rows))
    drawn = rng.multivariate_normal(np.zeros(len(ranks.columns)), np.corrcoef(scores.T), n)
    shares = norm.cdf(drawn).T
    return pd.DataFrame(
        {name: quantiles(rows[name], share) for name, share in zip(rows, shares, strict=True)}
    )


second = check(copula(real, N))

# %% [markdown]
# Better: the classifier now reaches much more than before. Dependences are still lost, and the list
# tells why. Within a species, heavy penguins have deep bills; the heaviest species has the least
# deep ones. One correlation between `bill_depth_mm` and `body_mass_g` cannot hold both, so we fit a
# copula for each species.


# %%
def by(names, rows, n):
    """A copula for each group of rows."""
    groups = [group for _, group in rows.groupby(names, dropna=False)]
    return pd.concat([copula(group, round(n * len(group) / len(rows))) for group in groups])


third = check(by(["species"], real, N))

# %% [markdown]
# Nothing is lost, but something is *invented*: `sex` and `year` depend on each other in the synthetic
# rows. They do not among penguins, so this is a mistake of ours. Equal values get their ranks in the
# order of the file, in which years increase. So the ranks of two columns of categories follow the
# same order, and are correlated.
#
# We shuffle the rows before they are ranked. Males are heavier, so we also fit the sexes one by one.

# %%
fixed = by(["species", "sex"], real.sample(frac=1, random_state=0), N)
fourth = check(fixed)
print(evaluate(real, fixed, schema=schema, progress=False).verdict)

# %% [markdown]
# No column and no pair is named any more, and a classifier that is trained on synthetic rows is as
# good as one that is trained on real rows. "Not found" is not "not there": the verdict says how
# large a loss would have been found. It comes from the curve, which looks at whole rows and so also
# finds faults that only three or more columns show together.
#
# ## Before you use the rows
#
# We have fitted and judged the generator on the same 344 rows. That is acceptable for copulas of a
# few groups, which cannot memorize rows, and wrong for a flexible model. Keep some real rows away
# from its training and pass them as `real`. Pass the training rows as `train`: the result then says
# whether rows are copied. [Does my model copy?](copies.ipynb) shows how.
#
# ## A gate
#
# In a pipeline, let the command exit with 1 if something is found, and keep the page, which shows
# every column and pair:
#
# ```console
# $ tradeoff evaluate --real real.csv --generated synthetic.csv --schema metadata.json \
#     --fail-on columns,recall-lost,precision-lost --report page.html
# ```
#
# [Evaluate a synthetic table](table.ipynb) finds the kinds of rows that are too rare.
# [Tables](../tables.md) says what is compared, and how often it is right.
