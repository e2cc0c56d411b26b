"""Every threshold and slope that decides what is said, each with where it comes from.

A name in parentheses is that of a record, a file of `benchmarks/results`. Grids on which errors
are counted stay in `core.counts`, and settings of estimators with the estimators: they decide how
well something is measured, not what is said about it.
"""

from __future__ import annotations

# The headline.

MARGIN = 1.5
"""Precision is read at 1.5 times the balanced slope and recall at 1/1.5 of it (`headline`)."""
AS_GOOD = 1.0
"""Standard errors of the F-score within which a slope may be the balanced one (`headline`)."""
COMMON_SLOPES = {"precision": MARGIN, "recall": 1.0 / MARGIN}
"""Slopes at which models are ranked: those of a perfect model, whose balanced slope is 1."""
LITTLE_OVERLAP = 1 / 3
"""Overlap below which two sets hardly have anything in common, whatever the kind of loss."""
RIGHT_KINDS = 0.95
"""Precision and recall from which on a difference is one of proportions."""

# Losses that are established.

FURTHER_FACTORS = (5.0, 20.0)
"""Tested in this fixed order, so that no level is lost; slopes on the grid of counts."""
SMALLEST_LOSS = 0.001
"""A smaller lower limit says nothing."""
ASKED = 0.1
"""Loss for which a number of samples is advised where nothing is established."""
LOWEST_LEVEL = 0.5
"""Below, an interval would be narrower than the noise that it describes."""

# Intervals.

NEAR_IDENTITY = 2.0**0.5
"""Folds share training data: errors near identity vary up to twice as much (`coverage`)."""
SHARED_PARTS = 1.15
"""Standard errors of sets of cells that five parts choose for each other, in counted ones; equal
tables show whether it is enough (`tables`)."""
FEWEST_GROUPS = 8
"""Fewer groups that disagree do not tell their spread (`coverage`)."""
POWER = 0.9
"""Probability with which a difference called resolvable is found: the usual choice in trials."""

# Controls.

FEWEST_CONTROLLED = 160
"""With fewer samples, no group that can be withheld is ever found (`verdict`)."""
CLUSTERS = 20
"""Few clusters are far apart, and withholding one of them flatters an estimator."""
FEWEST_CLASSES = 8
"""Of fewer classes, one is a large and easy group."""
LARGEST_CLASS = 0.15
"""A larger class is easier to find than what is asked about."""
WEAKEST_CONTROL = 0.35
"""A weaker control is noise (`verdict`)."""
MOST_WITHHELD = 0.8
"""A model that lacks more has nothing in common with the data."""
MANY_CONTROLLED = 2000
"""From here on half of the fits are enough."""
CONTROL_POWER = 1.43
"""(1.96 + 0.84) / 1.96: with so many times what is needed, four losses in five are found."""
CONTROL_GROWTH = 2.0
"""Strength grows about as the square of the number of withheld samples (`verdict`)."""

# Samples that are too few, too alike or too unequal.

FEWEST_SAMPLES = 20
"""Of a side, for five folds of four."""
FEWEST_VALUES = 5
"""Of a side: one for each fold."""
FEW_VALUES = 50
"""With fewer, some fold may lack a value that others hold."""
MANY_REPEATS = 0.5
"""From here on repeats may be what a discrete distribution looks like (`repeats`)."""
SHARED_REPEATS = 1 / 3
"""Values that both sides repeat are values of a table, not copies (`repeats`)."""
CLOSER = 1 / 3
"""A near-copy is closer than this share of the distance to the other half."""
USUAL_NEAR_COPIES = 0.05
"""Two sides of one distribution do not have more, in any number of columns."""
FEWEST_NEAR_COPIES = 200
"""Of a side: below, 5% are ten samples."""
MATERIAL_COPIES = 0.01
"""A share of copies that is worth a word."""
TOLD_REPEATS = 0.01
"""A share of repeats that is worth a line."""
UNEQUAL = 2.0
"""Sides of which one is so many times larger are pointed out."""
SAMPLES_PER_COLUMN = 10
"""Fewer make a covariance, and so a Fréchet distance, mostly noise (`baselines`)."""
MOST_TIED = 0.01
"""With more tied distances the distribution of clipped metrics does not hold (`baselines`)."""
SAME_SIZE = 1.05
"""Baselines hardly change within this ratio of sizes."""

# Copies of training samples.

PERMUTATIONS = 1999
"""Labels that are drawn: with the observed ones 2,000, of which 5% are a whole number."""
FOUND = 0.8
"""Probability with which a share of copies that is called detectable is found: as of controls."""
COPY_RATIO = 1 / 3
"""A copy is so many times closer to its real sample than to any other: then that sample is more
than twice as far from all other real samples as from the copy (triangle inequality)."""
SAME_RATIO = 0.1
"""The same ratio for near-duplicates among real samples: chance has 1% of them in two columns."""
NOT_EXCHANGEABLE = 0.001
"""Level at which training and held-out samples are tested for a difference."""
OFTEN = 5
"""Votes for one training sample from which on it is listed."""

# Tables.

FEWEST_OF_PAIR = 40
"""Rows of a side, for five parts of eight ranks."""
BROKEN_BY_CHANCE = 0.01
"""Real rows that would break an order if its columns were independent: fewer say nothing."""
FORGOTTEN = 1 / 3
"""A dependence that is so many times weaker is called lost."""
AS_STRONG = 0.8
"""A dependence that is weaker than this share of the other is called so."""

# Prompts.

FEW_PROMPTS = 20
"""So many prompts are told apart by zeros and ones, and statements are about them alone."""
FEWEST_ANSWERS = 5
"""Samples of a prompt and side, for five folds of one."""
SAME_PROMPTS = 0.95
"""Share of the samples whose prompts are on both sides, for prompts to count as the same."""
FEWEST_PAIRED = 40
"""Samples of each side with shared prompts, to compare them."""
UNSEEN = 0.25
"""Largest contribution of a prompt that was not seen; that of a sample is 1."""
OF_PROMPTS = 0.1
"""Part of the loss of pairs that the samples alone must leave unexplained: estimates of harmed
samples alone leave less (`prompts`)."""
OF_RECALL = 0.5
"""Part of the loss of recall that the loss of precision must have, to say that samples do not fit
their prompts."""

# Explanations and filters.

CLEAR_FACTOR = 5.0
"""A larger factor flags fewer samples, a smaller one more that are not missing (`explain`)."""
FEWEST_FLAGGED = 12
"""Flagged samples of the forming half for each group: fewer form no group twice."""
MOSTLY = 0.5
"""A group is named after a class if so many of its members have it."""
NAMED_CLASS = 0.1
"""A group is named by classes if its largest one has so many of its members."""
RULE_HOLDS = 0.8
"""A group of rows is named by a rule if it holds for so many of its members."""
RULE_LEVEL = 0.95
"""Confidence that such a rule holds more often on the side of the group than on the other one."""
NAMED_GROUPS = 3
"""Groups, columns or pairs that a sentence names: a reader takes in no more."""
WORTH_FILTERING = 0.05
"""Below, a filter would discard half of the samples to gain less than it costs (`explain`)."""
SHARED_CAUSE = 0.5
"""Losses of both kinds that are so large have a cause that most samples share."""
FEWEST_FILTERED = 20
"""Kept samples, to measure their curve: as many as a side needs."""
LITTLE_AREA = 0.005
"""Area that a larger budget must add to be advised."""

# Calibration.

FEWEST_CALIBRATED = 40
"""Distinct samples of a side: half fit, half calibrate."""
SATURATED = 0.5
"""Share of equal log-ratios from which on a classifier is called saturated."""
MISCALIBRATED = 4.0
"""Standard errors of a mean ratio above 1: chance alone passes it once in 30,000 runs."""
CHECKED_DRAWS = 1000
"""First draws of a sampler that are checked: few enough to stop in time."""

# Decisions while samples come in.

FEWEST_DECIDED = 100
"""Real samples of each half, or rules are fitted on noise."""
DRIFT = 1e-3
"""P-value of a test over blocks, below which samples are said to change."""
FEWEST_BLOCKED = 100
"""Samples of which blocks are compared."""
FEWEST_PILOTS = 10
"""Samples before the first look."""
PROBE_ERRORS = 2.0
"""Standard errors of a probe within which a difference may still be decided."""

# Training.

REACHED = 0.95
"""Share of a discriminator's largest value from which on it separates all samples."""
FEWEST_STEPS = 20
"""Steps in each half of a history."""
RISING = 4.0
"""Standard errors by which a bound must rise to be called rising."""
SURE = 0.9999
"""Level of the interval that raw figures of a discriminator must leave to be called wrong: they are
looked at every few steps."""

# Following a training run.

PLANTED_FAULT = 0.2
"""Share of real data whose loss an estimator must see before its scores choose a checkpoint; the
same share of a loss that nearest neighbors see and it does not makes a score worthless."""
PATIENCE = 3
"""Steps in a row that are shown to be worse: GANs recover from one."""
WAITING = 3
"""Evaluations that wait for a worker, from which on they are said to be too slow."""
