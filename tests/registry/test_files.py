"""Additions as a maintainer makes them, in the files that `docs/architecture.md` names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tradeoff

SOURCE = Path(tradeoff.__file__).parent


@pytest.fixture
def copy(tmp_path):
    """A copy of the package, in which files are written."""
    shutil.copytree(SOURCE, tmp_path / "tradeoff", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "tradeoff"


def edit(path, before, after):
    text = path.read_text(encoding="utf-8")
    assert text.count(before) >= 1, before
    path.write_text(text.replace(before, after, 1), encoding="utf-8")


def run(copy, code):
    """What a program prints that imports the copy."""
    about = "import tradeoff, numpy as np\nrng = np.random.default_rng(0)\n"
    done = subprocess.run(
        [sys.executable, "-c", about + code],
        env=os.environ | {"PYTHONPATH": str(copy.parent)},
        cwd=copy.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


SIDES = """
real, generated = rng.normal(0, 1, (1000, 2)), rng.normal(1, 1, (1000, 2))
"""


@pytest.mark.slow
def test_a_metric_family_with_its_expected_value(copy):
    copy.joinpath("metrics", "gap.py").write_text(
        """
from tradeoff.metrics.family import Measured
from tradeoff.metrics.score import Baseline, Score

def measure(pair, request):
    value = abs(float(pair.real.x[:, 0].mean() - pair.generated.x[:, 0].mean()))
    return Measured(scores={"gap.mean": Score(value=value)})

def expected(side, size, request):
    deviation = float(side.x[:, 0].std())
    return Baseline((2 / 3.14159) ** 0.5 * deviation * (1 / len(side) + 1 / size) ** 0.5)
"""
    )
    edit(
        copy / "metrics" / "registry.py",
        '        Family(\n            "knn",\n',
        '        Family(\n            "gap",\n            "tradeoff.metrics.gap:measure",\n'
        '            (Metric("gap.mean", "gap of means", "lower", (0.0, 9.0),\n'
        '             expected="tradeoff.metrics.gap:expected"),),\n        ),\n'
        '        Family(\n            "knn",\n',
    )
    code = SIDES + (
        "found = tradeoff.evaluate(real=real, generated=generated, metrics='gap', progress=False)\n"
        "print(found['gap.mean'].value, found['gap.mean'].expected)"
    )
    value, expected = map(float, run(copy, code))
    assert abs(value - 1.0) < 0.2
    assert 0.03 < expected < 0.045  # 0.0357 for deviation 1


@pytest.mark.slow
def test_an_estimator_that_also_works_frozen(copy):
    copy.joinpath("ratio", "means.py").write_text(
        """
from dataclasses import dataclass
import numpy as np
from tradeoff.ratio.base import Estimator, FittedRatio, Part, singles

@dataclass(frozen=True)
class Linear(Part):
    kind = "means"
    weights: np.ndarray
    constant: np.ndarray

    def __call__(self, rows):
        return rows @ self.weights + self.constant

@dataclass(frozen=True)
class Means(Estimator):
    part = Linear

    def fit(self, *, real, generated, seed):
        return MeansLogRatio(real.mean(0), generated.mean(0))

@dataclass(frozen=True, eq=False)
class MeansLogRatio(FittedRatio):
    real: np.ndarray
    generated: np.ndarray

    def log_ratio(self, x):
        return (x - (self.real + self.generated) / 2) @ (self.real - self.generated)

    def to_arrays(self, project):
        scale, center = project.standardize.scale, project.standardize.center
        slope = self.real - self.generated
        constant = (center - (self.real + self.generated) / 2) @ slope
        return {"weights": singles(scale * slope)[:, None], "constant": singles([constant])}
"""
    )
    edit(
        copy / "ratio" / "registry.py",
        '        EstimatorDeclaration("logistic"',
        '        EstimatorDeclaration("means", "two means", "tradeoff.ratio.means:Means"),\n'
        '        EstimatorDeclaration("logistic"',
    )
    code = SIDES + (
        "from tradeoff.ratio import FrozenRule\n"
        "both = {'real': real, 'generated': generated, 'estimator': 'means', 'progress': False}\n"
        "print(tradeoff.pr_curve(**both).curve.precision(1.0))\n"
        "kept = {**both, 'metrics': 'curve', 'rule': 'frozen'}\n"
        "print(tradeoff.evaluate(**kept).curve.precision(1.0))\n"
        "rule = FrozenRule.fit(real=real, generated=generated, estimator='means')\n"
        "rule.save('rule.npz')\n"
        "rows = np.array([[0.0, 0.0], [1.0, 1.0]])\n"
        "print(*FrozenRule.load('rule.npz').log_ratio(rows), *rule.log_ratio(rows))"
    )
    found = list(map(float, run(copy, code)))
    truth = 0.4795  # 2 Φ(-1/√2), of Gaussians √2 apart
    assert abs(found[0] - truth) < 0.06
    assert abs(found[1] - truth) < 0.09
    assert found[2] > 0.3 > -0.3 > found[3]
    assert found[2:4] == found[4:]


@pytest.mark.slow
def test_an_encoder(copy):
    copy.joinpath("features", "lengths.py").write_text(
        """
import numpy as np

class Lengths:
    name, kind, preprocessing, weights = "lengths", "text", "none", "1"

    def prepare(self, sample):
        return sample.content

    def embed(self, prepared):
        return np.array([[len(text), len(text.split())] for text in prepared], float)
"""
    )
    edit(
        copy / "features" / "registry.py",
        '        EncoderDeclaration(\n            "identity",',
        '        EncoderDeclaration("lengths", "text", "two lengths",\n'
        '                           "tradeoff.features.lengths:Lengths"),\n'
        '        EncoderDeclaration(\n            "identity",',
    )
    code = (
        "texts = [' '.join(['word'] * n) for n in rng.integers(1, 60, 300)]\n"
        "found = tradeoff.evaluate(real=texts[:150], generated=texts[150:], encoder='lengths',\n"
        "                          metrics='frechet', low_level=False, progress=False)\n"
        "print(found.provenance['encoder'], found.provenance['columns'])"
    )
    assert run(copy, code) == ["lengths", "2"]


@pytest.mark.slow
@pytest.mark.torch
def test_a_training_loss(copy):
    copy.joinpath("training", "reverse.py").write_text(
        """
from tradeoff.core.divergence import GAN
from tradeoff.training.base import Loss

class ReverseLoss(Loss):
    def __init__(self):
        super().__init__(GAN())

    def gain(self, log_ratio):
        return log_ratio
"""
    )
    edit(
        copy / "training" / "__init__.py",
        "from tradeoff.training.monitor import",
        "from tradeoff.training.reverse import ReverseLoss\nfrom tradeoff.training.monitor import",
    )
    code = (
        "import torch\nfrom tradeoff.training import Monitor, ReverseLoss\n"
        "loss = ReverseLoss()\nout = torch.tensor([1.0, -1.0], requires_grad=True)\n"
        "loss.generator_loss(out).backward()\nprint(*out.grad.tolist(), *loss.weight([0.5, 2.0]))"
    )
    assert list(map(float, run(copy, code))) == [-0.5, -0.5, 2.0, 0.5]


@pytest.mark.slow
def test_a_keyword_of_evaluate(copy):
    """In Python, in comparisons, on the command line and in TOML files."""
    edit(
        copy / "settings.py",
        "    diagnose: bool = field(",
        '    remark: str = field(default="", metadata={"help": "A remark that is kept."})\n'
        "    diagnose: bool = field(",
    )
    edit(copy / "settings.py", "    diagnose: bool\n", "    remark: str\n    diagnose: bool\n")
    edit(
        copy / "evaluation" / "assemble.py",
        "    warnings = context.warnings + ",
        "    warnings = ((settings.remark,) if settings.remark else ()) + context.warnings + ",
    )
    code = SIDES + (
        "import os, subprocess, sys\n"
        "plain = {'metrics': 'frechet', 'progress': False}\n"
        "one = tradeoff.evaluate(real=real, generated=generated, remark='seen', **plain)\n"
        "two = tradeoff.compare(real=real, generated={'a': generated, 'b': real}, remark='seen',\n"
        "                       **plain)\n"
        "print(*one.warnings, *two['a'].warnings)\n"
        "np.save('real.npy', real); np.save('made.npy', generated)\n"
        "open('run.toml', 'w').write('metrics = \"frechet\"\\nremark = \"seen\"\\n')\n"
        "command = [sys.executable, '-m', 'tradeoff', 'evaluate', '--real', 'real.npy',\n"
        "           '--generated', 'made.npy']\n"
        "for more in (['--remark', 'seen', '--metrics', 'frechet'], ['--config', 'run.toml']):\n"
        "    done = subprocess.run([*command, *more], capture_output=True, text=True, check=True)\n"
        "    print(done.stdout.count('warning: seen'))"
    )
    assert run(copy, code) == ["seen", "seen", "1", "1"]


@pytest.mark.slow
def test_a_section_of_the_page(copy):
    copy.joinpath("report", "templates", "sections", "sizes.html").write_text(
        '<h2 id="{{ id }}sizes">Sizes</h2><p>{{ found.real }} and {{ found.generated }}</p>\n'
    )
    edit(
        copy / "report" / "page.py",
        '@section("all-scores", "Scores")\n',
        '@section("sizes", "Sizes")\n'
        "def _sizes(evaluation: Evaluation) -> Any:\n"
        '    return evaluation.provenance["samples"]\n\n\n'
        '@section("all-scores", "Scores")\n',
    )
    code = SIDES + (
        "found = tradeoff.evaluate(real=real, generated=generated[:900], metrics='frechet',\n"
        "                          progress=False)\n"
        "found.report('page.html')\ntext = open('page.html').read()\n"
        "print(text.count('<p>1000 and 900</p>'), text.count('<a href=\"#sizes\">Sizes</a>'))"
    )
    assert run(copy, code) == ["1", "1"]
