"""Shared settings of the test suite."""

import os
import shutil
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

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


def pytest_collection_modifyitems(items):
    """Files with slow tests first, so that all workers end at about the same time."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


@pytest.fixture(scope="module")
def browser():
    """Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    assert binary, "Install Chromium: make browser."
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield running
        running.close()
