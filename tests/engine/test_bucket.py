"""A bucket behind HTTP, embedded and evaluated on a Ray cluster, with workers and drivers that die.

`make test-bucket` runs these tests in an environment with a local server of S3's protocol.
"""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.known.bucket import (
    BUCKET,
    contents_of,
    has_features,
    images_of,
    kill_a_worker,
    serving,
    write_tars,
)

pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

IMAGES, TARS = 300, 5


@pytest.fixture(scope="module")
def bucket():
    with serving() as system:
        for side in ("real", "generated"):
            write_tars(system, side, images_of(side, IMAGES), TARS)
        yield system


def command(run, out):
    arguments = ["evaluate", "--real", f"{BUCKET}/real", "--generated", f"{BUCKET}/generated/*.tar"]
    arguments += ["--ledger", run, "--out", str(out), "--engine", "ray", "--workers", "2"]
    arguments += ["--encoder", "efficientnet-lite0", "--size", "32", "--no-low-level", "--quiet"]
    arguments += ["--estimator", "logistic"]
    return [sys.executable, "-W", "ignore", "-m", "tradeoff", *arguments]


def outcome(system, run, out):
    features, records = contents_of(system, run)
    assert len(features) == 2 * TARS
    assert len(records) == 2 * TARS
    return features, records, (out / "evaluation.json").read_bytes()


@pytest.fixture(scope="module")
def without_faults(bucket, tmp_path_factory):
    out, run = tmp_path_factory.mktemp("out"), f"{BUCKET}/whole"
    subprocess.run(command(run, out), check=True, capture_output=True)
    return outcome(bucket, run, out)


def test_a_killed_worker_changes_no_byte(bucket, without_faults, tmp_path):
    run = f"{BUCKET}/killed"
    driver = subprocess.Popen(command(run, tmp_path))
    with kill_a_worker(bucket, run, below=driver.pid) as killer:
        assert driver.wait() == 0
    assert killer.killed
    assert outcome(bucket, run, tmp_path) == without_faults


def test_a_killed_driver_is_resumed(bucket, without_faults, tmp_path):
    run = f"{BUCKET}/resumed"
    driver = subprocess.Popen(command(run, tmp_path))
    while not has_features(bucket, run):
        assert driver.poll() is None
        time.sleep(0.05)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    assert not (tmp_path / "evaluation.json").exists()
    subprocess.run(command(run, tmp_path), check=True)
    assert outcome(bucket, run, tmp_path) == without_faults
