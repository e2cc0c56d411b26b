"""Nothing stays behind when a run ends, whatever it prints to, and clusters are closed."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tradeoff import evaluate
from tradeoff.engines import LocalEngine, RayEngine
from tradeoff.evaluation import Evaluation
from tradeoff.exceptions import InvalidInputError

COMMAND = [sys.executable, "-W", "ignore", "-m", "tradeoff"]
ESCAPES = "\x1b]0;pwned\x07\x1b[31m\u202e"


@pytest.fixture
def sides(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("real", "generated"):
        np.save(tmp_path / f"{name}.npy", rng.normal(size=(100, 2)))
    return ["--real", tmp_path / "real.npy", "--generated", tmp_path / "generated.npy"]


@pytest.mark.slow
def test_a_closed_output_is_no_defect(sides, tmp_path):
    pytest.importorskip("pyarrow")
    command = " ".join(map(str, [*COMMAND, "evaluate", *sides, "--metrics", "frechet"]))
    for closed in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
        options = f"--out {tmp_path / 'out'} --overwrite {closed}"
        found = subprocess.run(["sh", "-c", f"{command} {options}"], check=False)
        assert found.returncode == 0
        saved = json.loads((tmp_path / "out" / "evaluation.json").read_text())
        assert saved["scores"]  # nothing was printed into a file


@pytest.mark.slow
def test_a_reader_that_has_read_enough_is_no_defect(sides):
    command = " ".join(map(str, [*COMMAND, "evaluate", *sides, "--metrics", "frechet"]))
    script = f"{command} | true; exit ${{PIPESTATUS[0]}}"
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode in (0, 1)  # as Click has it
    assert found.stderr == ""


def sleep_long(shared, item):
    time.sleep(600)


RUNS = {
    "command": (
        "import numpy as np; from tradeoff.cli import main; import sys\n"
        "rng = np.random.default_rng(0)\n"
        "for n in 'ab': np.save(f'{n}.npy', rng.normal(size=(20000, 256)))\n"
        "sys.argv = ['tradeoff', 'evaluate', '--real', 'a.npy', '--generated', 'b.npy',"
        " '--metrics', 'curve']\nmain()",
        [signal.SIGTERM],
    ),
    "library": (
        "from tests.attacks.test_processes import sleep_long\n"
        "from tradeoff.engines import LocalEngine\n"
        "list(LocalEngine(2).run(sleep_long, None, [1, 2]))",
        [signal.SIGTERM, signal.SIGKILL],
    ),
}


def shared_memory_of(process):
    """Files in shared memory: their names hold the number of the process that made them."""
    return [name for name in os.listdir("/dev/shm") if re.search(rf"[-_]{process}[-_]", name)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, (_, kinds) in RUNS.items() for number in kinds]
)
def test_a_signal_leaves_no_worker_and_no_shared_memory(tmp_path, name, number):
    psutil = pytest.importorskip("psutil")
    environment = os.environ | {"LOKY_MAX_CPU_COUNT": "2", "PYTHONPATH": os.getcwd()}
    run = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", RUNS[name][0]], cwd=tmp_path, env=environment
    )
    children, limit = [], time.monotonic() + 60
    while time.monotonic() < limit and run.poll() is None and len(children) < 3:
        children = psutil.Process(run.pid).children(recursive=True)
        time.sleep(0.1)
    time.sleep(1)
    assert len(children) >= 3, "there were no workers to leave behind"
    assert shared_memory_of(run.pid), "there was no shared memory to leave behind"
    run.send_signal(number)
    assert run.wait(30) == (128 + number if name == "command" else -number)
    _, alive = psutil.wait_procs(children, timeout=15)
    assert not alive
    assert not shared_memory_of(run.pid)


@pytest.mark.slow
def test_escapes_of_saved_results_are_escaped(tmp_path):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(400, 2)), rng.normal(3, 1, (400, 2))
    options = {"metrics": "curve", "estimator": "logistic", "diagnose": False, "progress": False}
    evaluate(real=real, generated=generated, **options).save(tmp_path)
    saved = json.loads((tmp_path / "evaluation.json").read_text())

    def rename_score(fields):
        fields["scores"][f"curve.area{ESCAPES}"] = fields["scores"].pop("curve.area")

    changes = [
        rename_score,
        lambda fields: fields["findings"][0].update(advice=ESCAPES),
        lambda fields: fields["findings"][0].update(sentence=ESCAPES),
        lambda fields: fields["warnings"].append(ESCAPES),
        lambda fields: fields["provenance"]["versions"].update(python=ESCAPES),
        lambda fields: fields["provenance"].update(encoder=ESCAPES),
        lambda fields: fields["provenance"].update(estimator=ESCAPES),
        lambda fields: fields["broken"].update(real=[{"id": ESCAPES, "reason": ESCAPES}]),
        lambda fields: fields["settings"].update(estimator=ESCAPES),
    ]
    for change in changes:
        fields = json.loads(json.dumps(saved))
        change(fields)
        (tmp_path / "evaluation.json").write_text(json.dumps(fields))
        found = Evaluation.load(tmp_path)
        found.report(tmp_path / "page.html", overwrite=True)
        page = (tmp_path / "page.html").read_text()
        for text in (str(found), page, found._repr_html_()):
            assert not {"\x1b", "\x07", "\u202e"} & set(text)
    saved["findings"][0]["name"] = ESCAPES
    (tmp_path / "evaluation.json").write_text(json.dumps(saved))
    with pytest.raises(InvalidInputError) as refused:  # the name of no finding
        Evaluation.load(tmp_path)
    assert not {"\x1b", "\x07", "\u202e"} & set(str(refused.value))


def test_escapes_do_not_reach_a_terminal(capsys, monkeypatch):
    from tradeoff.cli import output

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.print_table(("name", "value"), [(ESCAPES, "1")])
    assert "\x1b]0" not in capsys.readouterr().out


def echo(shared, item):
    return item


def slow_echo(shared, item):
    time.sleep(0.3)
    return os.getpid(), item


def die_in_an_actor(shared, item):
    if item == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


@pytest.fixture
def cluster():
    """Four cores and one GPU, declared."""
    ray = pytest.importorskip("ray")
    ray.shutdown()
    options = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    ray.init(address="local", num_cpus=4, num_gpus=1, object_store_memory=100_000_000, **options)
    yield ray
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.parametrize(("gpus", "workers"), [(1.0, 1), (0.5, 2), (0.0, 4)])
def test_as_many_actors_as_the_cluster_can_run(cluster, gpus, workers):
    found = dict(RayEngine(gpus=gpus).run(slow_echo, None, range(8), stays=True))
    assert sorted(item for _, item in found.values()) == list(range(8))
    assert len({process for process, _ in found.values()}) == workers


@pytest.mark.slow
@pytest.mark.ray
def test_a_task_may_have_several_cores(cluster):
    found = dict(RayEngine(cpus=2).run(slow_echo, None, range(8), stays=True))
    assert len({process for process, _ in found.values()}) == 2
    with pytest.raises(InvalidInputError, match="The cluster has 4: pass fewer `cpus`"):
        list(RayEngine(cpus=5).run(echo, None, [1]))


@pytest.mark.slow
@pytest.mark.ray
def test_more_gpus_than_the_cluster_has_are_refused(cluster):
    with pytest.raises(InvalidInputError, match="The cluster has 1: pass gpus=0"):
        list(RayEngine(gpus=2).run(echo, None, [1]))


@pytest.mark.slow
@pytest.mark.ray
def test_the_next_task_goes_to_an_idle_actor(cluster):
    """One task takes as long as all others: they must not wait behind it."""
    seconds = [3.0, *[0.1] * 12]

    begun = time.monotonic()
    order = [i for i, _ in RayEngine(workers=2).run(nap, None, seconds, stays=True)]
    assert order[-1] == 0
    assert time.monotonic() - begun < 20.0


def nap(shared, seconds):
    time.sleep(seconds)


@pytest.mark.slow
@pytest.mark.ray
def test_an_actor_that_died_for_good_is_replaced(cluster):
    found = dict(RayEngine(gpus=1).run(die_in_an_actor, None, range(5), stays=True))
    assert "its worker died" in found.pop(2).sentence
    assert found == {i: i for i in (0, 1, 3, 4)}


@pytest.mark.slow
@pytest.mark.ray
def test_a_stranger_cannot_join_our_cluster(tmp_path):
    """Its servers listen on all interfaces, so that a token is required."""
    pytest.importorskip("ray")
    ours = (
        "from tradeoff.engines import RayEngine; import sys\n"
        "ray = RayEngine(workers=1).connect()\n"
        "print(ray.get_runtime_context().gcs_address, flush=True); sys.stdin.read()"
    )
    theirs = (
        "import ray, sys\n"
        "ray.init(address=sys.argv[1], log_to_driver=False)\n"
        "print('joined', ray.cluster_resources())"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_AUTH")}
    owner = subprocess.Popen(
        [sys.executable, "-c", ours],
        env=environment | {"HOME": str(tmp_path / "owner")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = owner.stdout.readline().strip()
        assert address
        stranger = subprocess.run(
            [sys.executable, "-c", theirs, address],
            env=environment | {"HOME": str(tmp_path / "stranger")},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert stranger.returncode != 0
        assert "joined" not in stranger.stdout
        assert "InvalidAuthToken" in stranger.stderr
    finally:
        owner.communicate("")


@pytest.mark.ray
def test_a_failed_start_is_a_sentence(monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def fail(**_):
        raise Exception("The current node timed out during startup.\nMore lines.")

    monkeypatch.setattr(ray, "init", fail)
    for engine, told in ((RayEngine(), "cannot be started here"), (RayEngine("x:1"), "answers at")):
        with pytest.raises(InvalidInputError, match=told) as error:
            list(engine.run(echo, None, [1]))
        assert "\n" not in str(error.value)


@pytest.mark.slow
def test_local_workers_are_killed_when_a_run_is_given_up():
    run = LocalEngine(2).run(nap, None, [0.0, 100.0, 100.0, 100.0])
    assert next(run)[0] == 0
    begun = time.monotonic()
    run.close()
    assert time.monotonic() - begun < 20.0
