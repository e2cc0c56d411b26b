"""The command line: what it prints, how it ends, and how mistakes are told."""

import json
import os
import pty
import re
import subprocess
import sys

import numpy as np
import pytest

from tests.cli.run import tradeoff
from tests.known.costs import help_time
from tradeoff import Evaluation, evaluate
from tradeoff.cli.options import parse_findings
from tradeoff.evaluation.findings import FINDINGS

QUICK = ("--estimator", "logistic", "--no-diagnose", "--metrics", "curve")


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    root = tmp_path_factory.mktemp("arrays")
    rng = np.random.default_rng(0)
    np.save(root / "real.npy", rng.normal(size=(400, 3)))
    np.save(root / "good.npy", rng.normal(size=(400, 3)))
    np.save(root / "half.npy", np.abs(rng.normal(size=(400, 3))))
    return root


def evaluate_command(paths, *options, generated="half.npy"):
    sources = ("--real", paths / "real.npy", "--generated", paths / generated)
    return tradeoff("evaluate", *sources, *QUICK, *options)


def test_a_summary(paths):
    done = evaluate_command(paths)
    assert (done.exit_code, done.stderr) == (0, "")
    title = "\n\n400 real and 400 generated samples, encoder identity, estimator logistic\n\n"
    verdict, table = done.stdout.split(title)
    assert verdict.replace("\n", " ").count("Misses at least ") == 1
    assert "confidence" not in verdict
    assert table.split()[:4] == ["value", "limits", "expected", "curve.precision"]
    assert "\nNext:\n" in table
    assert "recall lost: look at the real samples that the model misses" in table


def test_exact_statements_are_printed_where_they_are_asked_for(paths):
    plain, verbose = evaluate_command(paths), evaluate_command(paths, "--verbose")
    exactly = "with 95% confidence, the total variation distance is at least"
    assert exactly in " ".join(verbose.stdout.split())
    assert "The balanced slope is λ = " in verbose.stdout
    assert exactly not in " ".join(plain.stdout.split())
    assert "λ" not in plain.stdout
    assert verbose.stdout.splitlines()[0] == plain.stdout.splitlines()[0]


def test_files_that_are_written_are_named_and_the_next_step_opens_the_page(paths, tmp_path):
    page = tmp_path / "found.html"
    done = evaluate_command(paths, "--report", page)
    assert done.exit_code == 0
    assert f"Written: {page}" in done.stderr
    after = "".join(done.stdout.partition("Next:")[2].split())  # a long path is wrapped
    assert f"look at the real samples that the model misses ({page})".replace(" ", "") in after
    assert "--report page.html" not in done.stdout


def test_json_is_the_result_of_python(paths):
    done = evaluate_command(paths, "--json")
    expected = evaluate(
        real=paths / "real.npy",
        generated=paths / "half.npy",
        estimator="logistic",
        diagnose=False,
        metrics="curve",
    )
    assert done.stdout == expected.to_json(curves=False) + "\n"


def test_quiet_prints_the_verdict_only(paths):
    done = evaluate_command(paths, "--quiet")
    result = evaluate(
        real=paths / "real.npy",
        generated=paths / "half.npy",
        estimator="logistic",
        diagnose=False,
        metrics="curve",
        progress=False,
    )
    assert done.stdout == str(result).partition("\n\n")[0] + "\n"
    assert "Misses at least " in done.stdout
    assert "No difference" in evaluate_command(paths, "-q", generated="good.npy").stdout


@pytest.mark.slow
@pytest.mark.torch
def test_a_run_can_be_repeated_from_its_file(paths, tmp_path):
    first = evaluate_command(paths, "--out", tmp_path / "first", "--json", "--seed", "3")
    assert {path.name for path in (tmp_path / "first").iterdir()} == {
        *("evaluation.json", "real.parquet", "generated.parquet", "run.toml"),
    }
    config = tmp_path / "first" / "run.toml"
    again = tradeoff("evaluate", "--config", config, "--json")
    assert again.stdout == first.stdout
    changed = tradeoff("evaluate", "--config", config, "--json", "--seed", "4")
    assert json.loads(changed.stdout)["settings"]["seed"] == 4
    kept = Evaluation.load(tmp_path / "first")
    assert kept.curve is not None
    assert kept.to_json(curves=False) + "\n" == first.stdout


@pytest.mark.slow
def test_gates(paths):
    passed = evaluate_command(paths, "--fail-under", "curve.precision=0.5")
    assert passed.exit_code == 0
    told = r"gate passed: curve\.precision = 0\.\d{3} \(at most 0\.\d{3}\) is not below 0\.5\n"
    assert re.match(told, passed.stderr)
    failed = evaluate_command(
        paths, "--fail-under", "curve.precision=0.5", "--fail-under", "curve.recall=0.9"
    )
    assert failed.exit_code == 1
    assert "gate failed: curve.recall = " in failed.stderr
    assert "is below 0.9" in failed.stderr
    assert evaluate_command(paths, "--fail-over", "curve.area=0.1").exit_code == 1


def test_a_gate_on_findings_fails_after_the_results_are_written(paths, tmp_path):
    """The model makes one half of the data: it is established that recall is lost."""
    names = ("--fail-on", "no-overlap,recall-lost", "--fail-on", "columns", "--quiet")
    failed = evaluate_command(paths, *names, "--out", tmp_path / "kept")
    assert failed.exit_code == 1
    gates = [line for line in failed.stderr.splitlines() if line.startswith("gate ")]
    assert [gate.split(":")[:2] for gate in gates] == [
        ["gate passed", " no overlap"],
        ["gate failed", " recall lost"],
        ["gate failed", " columns"],
    ]
    assert gates[2].endswith("this run could not test it")  # they are no rows of a table
    kept = Evaluation.load(tmp_path / "kept")
    (lost,) = (one.sentence for one in kept.findings if one.name == "recall lost")
    assert gates[1].endswith(lost)


def test_a_gate_on_any_finding(paths):
    assert evaluate_command(paths, "--fail-on", "any").exit_code == 1
    passed = evaluate_command(paths, "--fail-on", "any", generated="good.npy")
    assert passed.exit_code == 0
    assert "gate passed: any: nothing was found" in passed.stderr


def test_both_kinds_of_gates_are_told(paths):
    both = ("--fail-on", "recall-lost", "--fail-under", "curve.recall=0.9")
    done = evaluate_command(paths, *both)
    assert done.exit_code == 1
    assert done.stderr.count("gate failed: ") == 2


@pytest.mark.parametrize("name", FINDINGS)
def test_every_finding_can_be_a_gate(name):
    assert parse_findings([name.replace(" ", "-")]) == (name,)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("recalls-lost", "Unknown finding `recalls lost`. Did you mean `recall lost`?"),
        ("column", "Did you mean `columns`?"),
        ("", "Choose one of no overlap, "),
        ("copies", "`--fail-on copies` requires the training samples"),
        ("unfit", "`--fail-on unfit` requires the prompts"),
    ],
)
def test_a_gate_that_cannot_fail_is_told_before_the_work(paths, monkeypatch, name, told):
    work = "tradeoff.evaluation.pipeline.evaluate_sources"
    monkeypatch.setattr(work, lambda *_, **__: pytest.fail("the work was begun"))
    done = evaluate_command(paths, "--fail-on", name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_gate_does_not_pass_what_could_not_be_estimated(paths, tmp_path):
    """Six samples, repeated: every curve is possible."""
    six = np.repeat(np.load(paths / "good.npy")[:6], 60, axis=0)
    np.save(tmp_path / "six.npy", six)
    gate = ("--fail-under", "curve.recall=0.8", "--quiet")
    done = evaluate_command(paths, *gate, generated=tmp_path / "six.npy")
    assert done.exit_code == 1
    assert "curve.recall = 1.000 [0.000, 1.000] could not be estimated" in done.stderr
    assert "warning: A side consists mostly of repeats" in done.stderr


def test_quiet_tells_of_broken_samples(paths, tmp_path):
    holes = np.load(paths / "good.npy")
    holes[:300] = np.nan
    np.save(tmp_path / "holes.npy", holes)
    done = evaluate_command(paths, "--quiet", generated=tmp_path / "holes.npy")
    assert "broken: 300 generated samples could not be read" in done.stderr


def test_a_gate_on_a_score_that_a_protocol_lacks_is_told_before_the_work(paths):
    options = ("--protocol", "prdc-2020", "--fail-under", "curve.recall=0.8")
    sources = ("--real", paths / "real.npy", "--generated", paths / "half.npy")
    done = tradeoff("evaluate", *sources, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "not among knn.precision, knn.recall, knn.density, knn.coverage" in done.stderr


@pytest.mark.slow
def test_copies_loosen_the_limits_of_a_plan_and_of_a_pool(paths, tmp_path):
    rng = np.random.default_rng(1)
    once, real = rng.normal(0.5, 1, (250, 2)), rng.normal(size=(1000, 2))
    sets = {"once": rng.normal(0.5, 1, (1000, 2)), "copies": np.repeat(once, 4, axis=0)}
    np.save(tmp_path / "real.npy", real)
    widths = {}
    for name, rows in sets.items():
        np.save(tmp_path / f"{name}.npy", rows)
        sides = ("--real", tmp_path / "real.npy", "--generated", tmp_path / f"{name}.npy")
        options = (*sides, "--estimator", "logistic", "--quiet")
        plan = tradeoff("budget", *options)
        pool = tradeoff("filter", *options, "--budget", "2", "--ids", tmp_path / f"{name}.txt")
        widths[name] = [_above_the_overlap(done.stdout.splitlines()) for done in (plan, pool)]
    assert np.all(np.array(widths["copies"]) > 1.3 * np.array(widths["once"]))


def _above_the_overlap(lines):
    """How far the limit is above the value, in the first row."""
    header, row = (line.split("\t") for line in lines[:2])
    value, limit = row[header.index("overlap")].rstrip(")").split(" (at most ")
    assert float(limit) < 1.0
    return float(limit) - float(value)


@pytest.mark.slow
def test_pictures(paths, tmp_path):
    assert evaluate_command(paths, "--plot", tmp_path / "one.png").exit_code == 0
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    models = [f"{name}={paths / name}.npy" for name in ("good", "half")]
    done = tradeoff(
        *("compare", "--real", paths / "real.npy", "--generated", *models, *QUICK),
        *("--plot", tmp_path / "both.svg"),
    )
    assert done.stdout.startswith("good is better than half: a larger overlap, +0.")
    assert f"Written: {tmp_path / 'both.svg'}" in done.stderr
    assert b"precision" in (tmp_path / "both.svg").read_bytes()


@pytest.mark.slow
def test_pages(paths, tmp_path):
    pytest.importorskip("pyarrow")
    page, out = tmp_path / "page.html", tmp_path / "out"
    done = evaluate_command(paths, "--report", page, "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "What it misses" in page.read_text(encoding="utf-8")
    assert tradeoff("report", out).stderr == f"Written: {out / 'report.html'}\n"
    assert (out / "report.html").read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
    bare = tmp_path / "bare.html"
    assert tradeoff("report", out, "--report", bare, "--no-samples").exit_code == 0
    assert "generated[" not in bare.read_text(encoding="utf-8")
    again = tradeoff("report", out)
    assert (again.exit_code, "--overwrite" in again.stderr) == (2, True)
    assert "must hold an evaluation" in tradeoff("report", tmp_path).stderr
    assert "must end in .html" in evaluate_command(paths, "--report", tmp_path / "p.pdf").stderr


@pytest.mark.torch
def test_what_cannot_be_written_is_told_before_the_work(paths, tmp_path):
    (tmp_path / "file").write_text("")
    for option, path, message in (
        ("--plot", tmp_path / "one.xyz", "must end in .png, .pdf, .svg"),
        ("--plot", tmp_path / "nowhere" / "one.png", "does not exist: create it first"),
        ("--out", tmp_path / "file", "cannot be created: File exists"),
    ):
        refused = evaluate_command(paths, option, path)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert message in refused.stderr
        assert refused.stderr.count("\n") == 1


def test_the_result_is_printed_even_if_there_is_no_picture(paths, tmp_path):
    np.save(tmp_path / "few.npy", np.repeat(np.load(paths / "real.npy")[:10], 40, axis=0))
    done = evaluate_command(paths, "--plot", tmp_path / "a.png", generated=tmp_path / "few.npy")
    assert done.exit_code == 2
    assert "curve.recall" in done.stdout
    assert "There is no curve to draw" in done.stderr


def test_an_interruption_ends_quietly(paths, monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("tradeoff.evaluation.pipeline.evaluate_sources", interrupted)
    done = evaluate_command(paths)
    assert done.exit_code == 130
    assert done.stderr == (
        "interrupted. Nothing was kept. Use --store DIR to keep features for the next run.\n"
    )


@pytest.mark.slow
def test_terminals_that_know_no_greek(paths):
    sources = ("--real", paths / "real.npy", "--generated", paths / "half.npy")
    done = subprocess.run(
        [sys.executable, "-m", "tradeoff", "evaluate", *map(str, (*sources, *QUICK)), "--verbose"],
        env=os.environ | {"PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"Overlap (? = 1): with 95% confidence" in done.stdout


@pytest.mark.slow
def test_models_by_option_or_argument(paths, tmp_path):
    first, second = (f"{name}={paths / name}.npy" for name in ("good", "half"))
    real = ("--real", paths / "real.npy")
    one = tradeoff("compare", *real, "--generated", first, "--generated", second, *QUICK, "-q")
    other = tradeoff("compare", *real, first, second, *QUICK, "-q")
    assert one.stdout == other.stdout != ""
    out = tradeoff("compare", *real, first, second, *QUICK, "--json")
    assert list(json.loads(out.stdout)["evaluations"]) == ["good", "half"]


PRESENT = ("--real", __file__, "--generated", __file__)  # files that exist


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--real", "nowhere", "--generated", "nowhere", "--metrics", "curve"),
            "error: `nowhere` does not exist.",
        ),
        (("--real", __file__), "error: `--generated` must be given, as an option or in a TOML"),
        (("--config", "nowhere.toml"), "error: `nowhere.toml` cannot be read: No such file"),
        (
            (*PRESENT, "--metrics", "integral"),
            "mean `frontier.integral`?",
        ),
        (
            (*PRESENT, "--fail-under", "curve.recall"),
            "such as curve.rec",
        ),
        (
            (
                *PRESENT,
                "--metrics",
                "knn",
                "--fail-under",
                "curve.area=1",
            ),
            "must name a score of this run. `curve.area` is not among knn.precision",
        ),
    ],
)
def test_mistakes_are_one_sentence(arguments, message):
    done = tradeoff("evaluate", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_models_must_have_names(paths):
    good = paths / "good.npy"
    done = tradeoff("sweep", "--real", paths / "real.npy", "--generated", good)
    assert done.exit_code == 2
    assert "must be NAME=PATH, with a different name for each path, such as A=" in done.stderr
    assert f"Got '{good}'" in done.stderr
    same = ("--generated", good, good)  # which would be called alike
    assert "with a different name" in tradeoff("compare", "--real", good, *same).stderr


def test_unknown_options_offer_known_ones():
    done = tradeoff("evaluate", "--reel", "x")
    assert done.exit_code == 2
    assert "--real" in done.stderr


def test_version_and_protocols():
    from tradeoff import __version__
    from tradeoff.protocols import PROTOCOLS

    assert tradeoff("--version").stdout == f"tradeoff {__version__}\n"
    header, *listed = tradeoff("protocols").stdout.splitlines()
    assert header.split("\t") == ["protocol", "about", "encoder", "samples"]
    assert [line.split("\t")[0] for line in listed] == list(PROTOCOLS)


@pytest.mark.slow
@pytest.mark.torch
def test_a_store_is_made_and_inspected(tmp_path):
    (tmp_path / "texts.txt").write_text("A rose.\nA cat.\nA dog.\n")
    store = ("--store", tmp_path / "store")
    arguments = ("embed", tmp_path / "texts.txt", *store, "--encoder", "all-minilm-l6-v2", "-q")
    assert "3 samples by all-minilm-l6-v2 + surface, 529 columns: 3 embedded, 0 found" in (
        tradeoff(*arguments).stdout
    )
    assert "0 embedded, 3 found in the store" in tradeoff(*arguments).stdout
    header, *views = tradeoff("embed", *store).stdout.splitlines()
    assert header.split("\t")[:3] == ["features", "samples", "shards"]
    shown = sorted(view.split("\t")[:3] for view in views)
    assert shown == [["all-minilm-l6-v2", "3", "1"], ["surface", "3", "1"]]
    assert "holds no features" in tradeoff("embed", "--store", tmp_path / "none").stdout
    assert "`--store` must name the folder" in tradeoff("embed").stderr
    np.save(tmp_path / "given.npy", np.eye(3))
    refused = tradeoff("embed", tmp_path / "given.npy", *store)
    assert "already holds features: there is nothing to embed" in refused.stderr


@pytest.mark.slow
@pytest.mark.torch
def test_the_doctor_names_what_works(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    shown = tradeoff("doctor")
    assert shown.exit_code == 0
    assert "efficientnet-lite0\tworks in ONNX Runtime, 1280 features, weights" in shown.stdout
    assert "all-minilm-l6-v2\tworks, 384 features, weights" in shown.stdout
    assert "facebook/dinov2-base (default)\tcannot be fetched" in shown.stdout
    assert "device\tcpu" in shown.stdout


def on_terminal(*arguments, columns, **environment):
    """What a terminal of so many columns shows."""
    main, side = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"} | environment
    process = subprocess.Popen(
        [sys.executable, "-m", "tradeoff", *map(str, arguments)],
        stdout=side,
        stderr=side,
        env={"TERM": "xterm", **environment},
    )
    os.close(side)
    shown = b""
    while True:
        try:
            block = os.read(main, 1 << 16)
        except OSError:
            break
        if not block:
            break
        shown += block
    assert process.wait() == 0
    return shown.decode()


@pytest.mark.slow
def test_terminals_wide_and_narrow_with_and_without_color(paths):
    sources = ("evaluate", "--real", paths / "real.npy", "--generated", paths / "half.npy", *QUICK)
    wide = on_terminal(*sources, columns=120)
    assert "that are realistic" in wide
    shown = wide.split("\r\x1b[K")[-1]
    first = shown.index("\x1b[1;31m")
    assert "Misses at least " in shown[first:].splitlines()[0]
    assert first < shown.index("400 real and 400 generated samples") < shown.index("curve.recall")
    assert shown.index("curve.recall") < shown.index("Next:")
    medium = on_terminal(*sources, columns=60)
    assert "that are realistic" not in medium
    assert "limits  expected" in _plain(medium)
    assert "expected: value when" in _plain(medium)
    narrow = on_terminal(*sources, columns=50, NO_COLOR="1")
    assert "expected" not in narrow
    assert "curve.recall" in narrow
    assert "\x1b[1;31m" not in narrow
    lines = [line.rpartition("\r")[2] for line in narrow.replace("\r\n", "\n").split("\n")]
    assert max(len(_plain(line)) for line in lines) <= 50


def _plain(text):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)


@pytest.mark.slow
def test_help_answers_at_once():
    """Within 1.5 times the time of a bare Typer application; the best of several runs each."""
    assert help_time(6)["ratio"] < 1.5


def test_completion_is_offered():
    done = subprocess.run(
        [sys.executable, "-m", "tradeoff"],
        env=os.environ
        | {"_TRADEOFF_COMPLETE": "complete_bash", "COMP_WORDS": "tradeoff ev", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "evaluate" in done.stdout


def test_a_gate_must_be_a_number(paths):
    """Nothing is below NaN, so such a gate would always be passed."""
    for limit in ("nan", "inf", "", "high"):
        done = evaluate_command(paths, "--fail-under", f"curve.precision={limit}")
        assert done.exit_code == 2
        assert "must be a key and a number" in done.stderr


def test_a_defect_has_an_exit_code_of_its_own(paths, monkeypatch):
    def fail(**_):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("tradeoff.evaluation.pipeline.evaluate_sources", fail)
    done = evaluate_command(paths)
    assert done.exit_code == 70
    assert "ZeroDivisionError: a defect" in done.stderr
    assert "This is a bug in tradeoff" in done.stderr


def parquet_sides(folder):
    """Both sides as Parquet files of the names that results have, too."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    for name in ("real", "generated"):
        rows = arrow.table({"features": list(rng.normal(size=(60, 2)))})
        parquet.write_table(rows, folder / f"{name}.parquet")
    return ("--real", folder / "real.parquet", "--generated", folder / "generated.parquet")


@pytest.mark.torch
def test_outputs_never_overwrite_an_input(tmp_path):
    sides = parquet_sides(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    os.link(tmp_path / "real.parquet", tmp_path / "linked.png")
    (tmp_path / "alias.png").symlink_to(tmp_path / "real.parquet")
    for options in (
        ("evaluate", "--out", tmp_path),
        ("evaluate", "--plot", tmp_path / "linked.png"),
        ("evaluate", "--plot", tmp_path / "alias.png"),
        ("filter", "--budget", "2", "--ids", tmp_path / "real.parquet"),
        ("filter", "--budget", "2", "--curves", tmp_path / "generated.parquet"),
    ):
        quick = QUICK if options[0] == "evaluate" else ("--estimator", "logistic")
        done = tradeoff(*options, *sides, *quick, "--overwrite")
        assert done.exit_code == 2, options
        assert "would be written over or into the input" in done.stderr
    assert all(path.read_bytes() == content for path, content in before.items())


def test_outputs_do_not_land_among_the_samples(tmp_path):
    """A picture in the folder of samples would be a sample of the next run."""
    samples = tmp_path / "images"
    samples.mkdir()
    done = tradeoff(
        "evaluate", "--real", samples, "--generated", samples, "--plot", samples / "a.png"
    )
    assert done.exit_code == 2
    assert "would be written over or into the input" in done.stderr


@pytest.mark.slow
@pytest.mark.torch
def test_an_earlier_output_is_replaced_only_if_asked(paths, tmp_path):
    options = ("--out", tmp_path / "out", "--plot", tmp_path / "a.png")
    assert evaluate_command(paths, *options).exit_code == 0
    again = evaluate_command(paths, *options)
    assert again.exit_code == 2
    assert "exists already: pass overwrite=True (--overwrite)" in again.stderr
    assert evaluate_command(paths, *options, "--overwrite").exit_code == 0


def test_two_outputs_do_not_share_a_file(paths, tmp_path):
    done = tradeoff(
        *("filter", "--real", paths / "real.npy", "--generated", paths / "half.npy"),
        *("--budget", "2", "--ids", tmp_path / "a", "--curves", tmp_path / "a"),
    )
    assert done.exit_code == 2
    assert "Two options name the same file" in done.stderr


@pytest.mark.slow
@pytest.mark.torch
def test_names_of_files_do_not_control_the_terminal(tmp_path):
    """A newline in a name would be two lines, and an escape sequence could clear the screen."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for side in ("real", "generated"):
        (tmp_path / side).mkdir()
        for i in range(50):
            pixels = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / side / f"{i}\n\x1b[2J.png")
    (tmp_path / "generated" / "bad\x1b[31m.png").write_bytes(b"not an image")
    sources = ("--real", tmp_path / "real", "--generated", tmp_path / "generated")
    size = ("--encoder", "efficientnet-lite0", "--size", 32)
    options = ("--estimator", "logistic", "--keep", 20, "--ids", tmp_path / "ids.txt")
    done = tradeoff("filter", *sources, *size, *options)
    assert done.exit_code == 0, done.stderr
    lines = (tmp_path / "ids.txt").read_text().splitlines()
    assert len(lines) == len([line for line in lines if line.endswith(r"\n\x1b[2J.png")])
    assert abs(len(lines) - 20) <= 1
    told = tradeoff("evaluate", *sources, *size, "--metrics", "copies")
    assert r"bad\x1b[31m.png" in told.stdout
    stopped = tradeoff("evaluate", *sources, *size, "--metrics", "copies", "--broken", "stop")
    assert r"bad\x1b[31m.png" in stopped.stderr
    assert "\x1b" not in told.stdout + stopped.stderr


def test_warnings_are_one_sentence(paths, monkeypatch):
    import warnings

    def warn(**_):
        warnings.warn("A shard is damaged.", UserWarning, stacklevel=1)
        raise SystemExit(0)

    monkeypatch.setattr("tradeoff.evaluation.pipeline.evaluate_sources", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = evaluate_command(paths)
    assert done.stderr == "warning: A shard is damaged.\n"


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("--fake", "--generated"),
        ("--output", "--out"),
        ("--html", "--report"),
        ("--sead", "--seed"),
    ],
)
def test_options_of_other_tools_lead_to_ours(option, meant):
    done = tradeoff("evaluate", option, "x")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: `tradeoff evaluate` has no option `{option}`. Did you")
    assert f"`{meant}`" in done.stderr
    assert "--zzz" in tradeoff("compare", "--zzz").stderr
    assert "`tradeoff reference make` has no" in tradeoff("reference", "make", "--fake").stderr


def test_options_are_grouped():
    text = tradeoff("evaluate", "--help").stdout
    titles = [line[:-1] for line in text.splitlines() if line[:1].isalpha() and line[-1] == ":"]
    assert titles == ["Arguments", "Input", "What to measure", "Output", "Advanced", "Options"]
    assert text.index("--metrics") > text.index("What to measure:")
    assert tradeoff("sweep", "--help").stdout.index("Arguments:") > 0
