# %% [markdown]
# # Evaluate many samples, on one machine or a cluster
#
# Millions of samples do not fit into memory, and a long run can be interrupted. In this tutorial you
# count samples file by file, kill a run and continue it, add more files, and do the same on Ray. It
# takes about two minutes.
#
# Here the files are small, so that the tutorial is short. Nothing changes if they are large.

# %%
# In Colab, remove the first "#" of the next line.
# %pip install "tradeoff[ray]"
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tradeoff import evaluate
from tradeoff.engines import LocalEngine, RayEngine

# %% tags=["parameters"]
N = 4000  # rows of a file

# %% [markdown]
# ## Features in Parquet files
#
# Each side is a folder of Parquet files with a column `features`. Folders of image archives work
# too; they are embedded first. Our model invents one sample in ten.

# %%
rng = np.random.default_rng(0)


def write(folder, part, invented):
    """One file of features, shape (N, 8), the first ones shifted far away."""
    features = rng.normal(size=(N, 8)).astype(np.float32)
    features[: int(invented * N)] += 4
    Path(folder).mkdir(exist_ok=True)
    pq.write_table(pa.table({"features": list(features)}), f"{folder}/part-{part}.parquet")


for part in range(4):
    write("real", part, invented=0)
    write("generated", part, invented=0.1)

# %% [markdown]
# ## Count on this machine
#
# `rule="frozen"` fits one classifier on a part of the samples and then only counts its errors on all
# others. Counts of files add up, so files can be counted anywhere and in any order. `ledger` names
# a folder in which they are kept.

# %%
sources = {"real": "real", "generated": "generated", "rule": "frozen"}
result = evaluate(**sources, engine=LocalEngine(workers=2), ledger="ledger")
print(result.verdict)
print("\nmeasured:", *result.scores)

# %% [markdown]
# The verdict finds the invented samples. Neighbor metrics are missing: they need all samples at once.
#
# ## Kill a run, and continue
#
# We start the same evaluation as a command with a ledger of its own, and kill it as soon as something
# has been counted.

# %%
command = [sys.executable, "-m", "tradeoff", "evaluate", "--real", "real"]
command += ["--generated", "generated", "--rule", "frozen", "--engine", "local"]
ledger = Path("interrupted", "counts.ledger")
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
run = subprocess.Popen([*command, "--ledger", "interrupted"], **quiet)
while run.poll() is None and not (ledger.exists() and ledger.stat().st_size):
    time.sleep(0.05)
run.kill()
run.wait()

continued = evaluate(**sources, engine="local", ledger="interrupted")
print("same scores as without interruption:", continued.scores == result.scores)

# %% [markdown]
# Nothing is lost and nothing is counted twice. The scores are equal to the last digit, however many
# workers there are and wherever the run was interrupted.
#
# ## Add files
#
# New samples arrive. With the same ledger only the new file is counted, by the same classifier.

# %%
write("generated", 4, invented=0.1)
more = evaluate(**sources, engine="local", ledger="ledger")
for name, found in (("before", result), ("after", more)):
    area, size = found["curve.area"], found.provenance["samples"]["generated"]
    print(f"{name}: {size:,} samples, area {area.text}")

# %% [markdown]
# ## The same on Ray
#
# `engine="ray"` starts Ray on this machine; `RayEngine(address="auto")` uses a cluster that runs
# already. Files must be where all workers can read them, for example `s3://bucket/real`.

# %%
if find_spec("ray"):
    import ray

    on_ray = evaluate(**sources, engine=RayEngine(workers=2))
    ray.shutdown()
    here = evaluate(**sources, engine="local")
    print("same scores as on this machine:", on_ray.scores == here.scores)

# %% [markdown]
# ## Decide
#
# * **Up to about 50,000 samples of each side**, leave out `rule` and `engine`. The default uses every
#   sample both to fit and to count, so its intervals are narrower.
# * **More samples than memory**: `engine="local"` with a ledger.
# * **Features must be computed first, on many GPUs**: Ray, with `RayEngine(gpus=1)`. Starting Ray
#   takes 10 to 30 seconds, so it is not worth it for counting alone.
#
# [Millions of samples](../scale.md) has measured times and memory, and the limits.
