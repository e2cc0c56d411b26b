"""Settings of all tests; runs the examples of the README and the documentation pages."""

import os
import shutil
from collections import Counter
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

# The workers of xdist share the cores: threads and processes of theirs would only wait.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("RAY_worker_niceness", "0")  # or workers of Ray wait for all other tests

# Derandomized: the same examples in every run. `--hypothesis-profile=search` looks for new ones.
settings.register_profile("fixed", derandomize=True, max_examples=60, deadline=None, database=None)
settings.register_profile(
    "search", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")

# Importing a tutorial would run it; `benchmarks/tests/test_tutorials.py` runs them, in small. Known
# truths have no doctests, and some of them import PyTorch.
collect_ignore_glob = ["docs/tutorials/*", "tests/known/*"]
# `make test-trackers` and `make test-bucket` install these packages, and run these files.
if find_spec("mlflow") is None or find_spec("wandb") is None:
    collect_ignore_glob.append("tests/integrations/test_trackers.py")
if find_spec("moto") is None or find_spec("s3fs") is None:
    collect_ignore_glob.append("tests/engine/test_bucket.py")

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "CONTRIBUTING.md", "docs/*.md"],
    excludes=["docs/_build/**"],
).pytest()


def pytest_collection_modifyitems(items):
    """Skip what needs a missing package; files with slow tests first, so that no worker is late."""
    for package in ("torch", "ray"):
        if find_spec(package) is None:
            skip = pytest.mark.skip(reason=f"{package} is not installed")
            for item in items:
                if item.get_closest_marker(package):
                    item.add_marker(skip)
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


@pytest.fixture(scope="module")
def browser():
    """Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    if binary is None:
        pytest.skip("Install Chromium: make browser.")
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield running
        running.close()
