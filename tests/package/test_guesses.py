"""Guesses that were written down from README and quickstart before any code was read.

Most run as they were guessed, and the others end in one sentence with what to write instead.
"""

import subprocess
import sys

import numpy as np
import pytest

import tradeoff
from tests.cli.run import tradeoff as command
from tradeoff import (
    Comparison,
    Evaluation,
    InvalidInputError,
    compare,
    evaluate,
    load,
    pr_curve,
    sweep,
)

RNG = np.random.default_rng(0)
SHIFTS = np.array([0.0, 0.2, 1.0])[:, None, None]
REAL, OTHER, THIRD = RNG.normal(size=(3, 200, 3)) + SHIFTS
QUICK = {"metrics": "curve", "estimator": "logistic", "diagnose": False, "progress": False}
OPTIONS = ("--metrics", "curve", "--estimator", "logistic", "--no-diagnose")


@pytest.fixture(scope="module")
def result():
    return evaluate(REAL, OTHER, **QUICK)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("guesses")
    for name, values in {"r": REAL, "g": OTHER, "h": THIRD}.items():
        np.save(place / f"{name}.npy", values)
    return place


def test_printed_and_as_text(result):
    assert "curve.precision" in str(result)
    assert result.summary() == str(result)
    assert "The balanced slope is" in " ".join(result.summary(exact=True).split())
    assert str(result.verdict)


def test_scores_by_attribute_and_by_key(result):
    assert float(result.recall) <= 1.0
    assert result.f_score is result["f_score"]
    assert result.area is result["curve.area"]
    assert "curve.recall" in result
    assert "recall" in result
    assert "knn.recall" not in result


def test_as_a_mapping(result):
    assert dict(result) == dict(result.scores) == dict(result.items())
    assert list(result) == list(result.keys())
    assert len(result) == len(result.scores)


def test_saved_loaded_and_reported(result, tmp_path):
    result.save(tmp_path / "one")
    assert isinstance(load(tmp_path / "one"), Evaluation)
    several = compare(real=REAL, generated={"a": OTHER, "b": THIRD}, **QUICK)
    several.save(tmp_path / "several")
    assert isinstance(load(str(tmp_path / "several")), Comparison)
    result.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").exists()


@pytest.mark.torch
def test_tensors_and_data_frames(result):
    torch, pandas = pytest.importorskip("torch"), pytest.importorskip("pandas")
    tensors = evaluate(torch.tensor(REAL), torch.tensor(OTHER), **QUICK)
    assert tensors.recall == result.recall
    frames = [pandas.DataFrame(x, columns=list("abc")) for x in (REAL, OTHER)]
    assert float(evaluate(*frames, **QUICK).recall) <= 1.0


@pytest.mark.slow
@pytest.mark.torch
def test_folders_and_texts(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for side in ("photos", "samples"):
        (tmp_path / side).mkdir()
        for i, pixels in enumerate(RNG.integers(0, 256, (40, 8, 8, 3), dtype=np.uint8)):
            image.fromarray(pixels).save(tmp_path / side / f"{i}.png")
    folders = [str(tmp_path / side) for side in ("photos", "samples")]
    assert "precision" in evaluate(*folders, encoder="efficientnet-lite0", **QUICK)
    texts = [[f"A {what} sleeps for {i} hours." for i in range(40)] for what in ("cat", "dog")]
    assert "precision" in evaluate(*texts, encoder="all-minilm-l6-v2", **QUICK)


@pytest.mark.torch
def test_usual_and_short_names_of_metrics():
    found = evaluate(REAL, OTHER, metrics="fid, coverage", progress=False)
    assert list(found) == ["knn.coverage", "frechet.distance"]
    assert found.coverage is found["coverage"] is found["knn.coverage"]
    assert found.fid is found["frechet.distance"]
    with pytest.raises(AttributeError, match="has no attribute `density`"):
        _ = found.density


def test_precision_without_a_family_is_that_of_the_curve(result):
    found = evaluate(REAL, OTHER, **QUICK | {"metrics": ["precision", "recall"]})
    assert dict(found) == {key: result[key] for key in ("curve.precision", "curve.recall")}
    assert result.f1 is result.f_score


def test_keywords_of_other_packages(result):
    options = {name: value for name, value in QUICK.items() if name != "progress"}
    found = evaluate(real=REAL, fake=OTHER, verbose=False, **options)
    assert found.recall == result.recall
    several = compare(real=REAL, fake={"a": OTHER, "b": THIRD}, **QUICK)
    assert several["a"].recall == result.recall
    with pytest.raises(InvalidInputError, match="no setting `n_jobs`: .* OMP_NUM_THREADS"):
        evaluate(REAL, OTHER, n_jobs=2, **QUICK)
    with pytest.raises(InvalidInputError, match="no setting `random_state`: write `seed`"):
        evaluate(REAL, OTHER, random_state=2, **QUICK)


def test_the_suffix_of_a_name_says_what_is_written(result, tmp_path):
    result.save(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert result.to_json(tmp_path / "a.json") == result.to_json()
    result.save(tmp_path / "b.json")
    for name in ("a.json", "b.json"):
        assert load(tmp_path / name).recall == result.recall
    with pytest.raises(InvalidInputError, match="exists already"):
        result.save(tmp_path / "b.json")
    several = compare(real=REAL, generated={"a": OTHER, "b": THIRD}, **QUICK)
    several.save(tmp_path / "several.json")
    assert load(tmp_path / "several.json").verdicts == several.verdicts
    (tmp_path / "list.json").write_text("[1]")
    with pytest.raises(InvalidInputError, match="must have the schema"):
        load(tmp_path / "list.json")


def test_a_curve_is_drawn_to_a_file(result, tmp_path):
    pytest.importorskip("matplotlib")
    result.plot(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("guess", "meant"),
    [
        (lambda _: tradeoff.list_encoders(), "`tradeoff.features.ENCODERS`"),
        (lambda _: tradeoff.evalute(REAL, OTHER), "`tradeoff.evaluate`"),
        (lambda result: result.to_html("page.html"), r"`report\(path\)`"),
        (lambda result: result.presicion, "`precision`"),
    ],
)
def test_a_wrong_name_in_python_leads_to_the_right_one(guess, meant, result):
    with pytest.raises(AttributeError, match=f"Did you mean {meant}"):
        guess(result)


@pytest.mark.torch
def test_what_is_suggested_exists():
    for meant in tradeoff._MEANT.values():
        __import__(meant.rpartition(".")[0])
        assert meant.split(".")[-1] in dir(sys.modules[meant.rpartition(".")[0]])


def test_what_is_a_command_takes_real_samples_first():
    assert compare(REAL, {"a": OTHER, "b": THIRD}, **QUICK).verdicts[0].startswith("a is better")
    values = sweep(REAL, {0.5: OTHER, 1.0: THIRD}, estimator="logistic", progress=False)
    assert values.best == "0.5"
    kept = tradeoff.filter(REAL, THIRD, keep=20, estimator="logistic", progress=False)
    assert len(kept.index) == 20
    with pytest.raises(InvalidInputError, match=r"by name, compare\(real, .* Got a list"):
        compare(REAL, [OTHER, THIRD], **QUICK)


def test_a_wrong_argument_or_key_leads_to_the_right_one(result):
    with pytest.raises(InvalidInputError, match="has no argument `foldz`. Did you mean `folds`"):
        pr_curve(real=REAL, generated=OTHER, foldz=3)
    with pytest.raises(InvalidInputError, match="no setting `nearest_k`: write `k`"):
        evaluate(REAL, OTHER, nearest_k=3)
    with pytest.raises(InvalidInputError, match="score `presicion`. Did you mean `precision`"):
        _ = result["presicion"]
    with pytest.raises(InvalidInputError, match="`fid` was not measured. Measured scores: curve"):
        _ = result["fid"]


def test_a_figure_is_saved_under_the_name_of_matplotlib(result, tmp_path):
    pytest.importorskip("matplotlib")
    result.plot().savefig(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_a_command_alone_shows_what_there_is():
    shown = subprocess.run(
        [sys.executable, "-m", "tradeoff"], capture_output=True, text=True, check=False
    )
    assert "evaluate" in shown.stdout + shown.stderr


def test_paths_by_position_and_short_options(folder):
    by_position = command("evaluate", folder / "r.npy", folder / "g.npy", *OPTIONS)
    by_name = command("evaluate", "-r", folder / "r.npy", "-g", folder / "g.npy", *OPTIONS)
    assert by_position.exit_code == by_name.exit_code == 0
    assert by_position.stdout == by_name.stdout
    mixed = command("evaluate", folder / "r.npy", "--generated", folder / "g.npy")
    assert "must be given as two paths, REAL GENERATED, or as --real PATH" in mixed.stderr


def test_two_paths_without_a_command_are_evaluated(folder):
    options = ("--metrics", "copies")
    alone = command(folder / "r.npy", folder / "g.npy", *options)
    assert alone.exit_code == 0
    assert alone.stdout == command("evaluate", folder / "r.npy", folder / "g.npy", *options).stdout


def test_help_and_version_as_commands():
    assert command("help", "compare").stdout == command("compare", "--help").stdout
    assert command("version").stdout == command("--version").stdout


def test_an_output_that_ends_in_html_is_a_page(folder, tmp_path):
    sources = ("evaluate", folder / "r.npy", folder / "g.npy", *OPTIONS)
    done = command(*sources, "-o", tmp_path / "page.html")
    assert (done.exit_code, (tmp_path / "page.html").is_file()) == (0, True)


def test_an_output_that_ends_in_json_is_the_result(folder, tmp_path):
    sources = ("evaluate", folder / "r.npy", folder / "g.npy", *OPTIONS)
    done = command(*sources, "-o", tmp_path / "result.json")
    assert done.stderr.endswith(f"Written: {tmp_path / 'result.json'}\n")
    assert "curve.recall" in load(tmp_path / "result.json")
    again = command(*sources, "-o", tmp_path / "result.json")
    assert (again.exit_code, "--overwrite" in again.stderr) == (2, True)
    done = command("report", tmp_path / "result.json")
    assert (tmp_path / "result.html").is_file()


def test_families_separated_by_commas(folder):
    done = command(
        *("evaluate", folder / "r.npy", folder / "g.npy", "--metrics", "curve,copies", "--quiet"),
        *OPTIONS[2:],
    )
    assert done.exit_code == 0


def test_models_are_called_like_their_files(folder):
    models = ("--generated", folder / "g.npy", folder / "h.npy")
    done = command("compare", "--real", folder / "r.npy", *models, *OPTIONS)
    assert done.stdout.startswith("g is better than h: ")


def test_the_first_path_is_that_of_the_real_data(folder):
    paths = (folder / "r.npy", folder / "g.npy", folder / "h.npy")
    assert command("compare", *paths, *OPTIONS).stdout.startswith("g is better than h: ")
    values = (f"0.5={paths[1]}", f"1={paths[2]}")
    found = command("sweep", paths[0], *values, "--estimator", "logistic", "--quiet")
    assert found.stdout.startswith("0.5 has the largest area.")
    found = command("filter", *paths[::2], "--keep", "20", "--estimator", "logistic", "-q")
    assert len(found.stdout.splitlines()) == 20


def test_a_mistyped_path_gets_the_one_that_was_meant(folder):
    (folder / "photos.csv").touch()
    for guess in ("photos", "photo.csv", "fotos.csv"):
        done = command("evaluate", folder / guess, folder / "g.npy")
        assert f"does not exist. Did you mean `{folder / 'photos.csv'}`?" in done.stderr
    done = command("compare", folder / "r.npy", f"A={folder / 'photo.csv'}")
    assert f"`{folder / 'photo.csv'}` does not exist. Did you mean" in done.stderr


def test_encoders_are_listed():
    assert "efficientnet-lite0\timage\t" in command("encoders").stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("eval",), "`tradeoff` has no command `eval`. Did you mean `evaluate`?"),
        (("evaluate", "--json", "out.json"), "`--json` prints the result: write `--json > out."),
        (("evaluate", "--html", "page.html"), "has no option `--html`. Did you mean `--report`?"),
        (("evaluate", "--format", "json"), "has no option `--format`. Did you mean `--json`?"),
        (("evaluate", "--nearest-k", "3"), "has no option `--nearest-k`. Did you mean `--k`?"),
        (("decide", "a.npy"), 'The question must read like "curve.recall > 0.6"'),
        (("report", "nothing.json"), "`nothing.json` does not exist."),
        (("filter", "--out", "kept"), "has no option `--out`. Did you mean `--ids`?"),
        (("evaluate", "--num-workers", "8"), "OMP_NUM_THREADS"),
        (("evaluate", "--gpu", "0"), "has no option `--gpu`. Did you mean `--device`?"),
        (("compare", "a.json", "b.json"), "Saved results cannot be compared. Got b.json"),
        (("list-encoders",), "Did you mean `encoders`?"),
        (("reference", "create"), "`tradeoff reference` has no command `create`."),
    ],
)
def test_a_wrong_name_on_the_command_line_ends_in_one_sentence(arguments, sentence):
    done = command(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
