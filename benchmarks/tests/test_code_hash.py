"""The hash of a benchmark changes with the code that it reaches, and with nothing else."""

import pytest

from benchmarks.code_hash import Code, code_of

FILES = {
    "benchmarks/__init__.py": "",
    "benchmarks/bench_demo.py": '''
        """A benchmark."""

        import sys
        from typing import TYPE_CHECKING

        from benchmarks.harness import run
        from examples.parts import draw
        from tradeoff import curve
        from tradeoff.ratio import ESTIMATORS

        if TYPE_CHECKING:
            from tradeoff.typed import Name

        SCRIPT = """
        from tradeoff.scripted import read
        read()
        """
        COMMAND = [sys.executable, "-m", "tradeoff"]
        TUTORIAL = "lesson.py"


        def measure():
            """Measure it."""
            from tradeoff.inside import deep

            return {"ratio": deep(curve(draw(ESTIMATORS)))}
    ''',
    "benchmarks/harness.py": "import tradeoff.unrelated\n\n\ndef run(): ...\n",
    "docs/tutorials/lesson.py": "x = 1\n",
    "docs/tutorials/other.py": "x = 1\n",
    "examples/parts.py": "def draw():\n    return 1\n",
    "src/tradeoff/__init__.py": "import lazy_loader\n",
    "src/tradeoff/__init__.pyi": "from .line import curve\nfrom .unrelated import other\n",
    "src/tradeoff/__main__.py": "from tradeoff.cli import main\n\nmain()\n",
    "src/tradeoff/cli.py": "def main(): ...\n",
    "src/tradeoff/inside.py": "def deep(x):\n    return x  # as it is\n",
    "src/tradeoff/line.py": "def curve():\n    return 1\n",
    "src/tradeoff/ratio/__init__.py": "from tradeoff.ratio.registry import ESTIMATORS\n",
    "src/tradeoff/ratio/registry.py": 'ESTIMATORS = {"tree": "tradeoff.ratio.tree:Tree"}\n',
    "src/tradeoff/ratio/tree.py": 'class Tree:\n    """A tree."""\n\n    depth = 1\n',
    "src/tradeoff/scripted.py": "def read(): ...\n",
    "src/tradeoff/typed.py": "Name = str\n",
    "src/tradeoff/unrelated.py": "other = 1\n",
}


@pytest.fixture
def repository(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(line.removeprefix(" " * 8) for line in text.split("\n")))
    return tmp_path


def hash_of(repository):
    return Code(repository).of_benchmark("demo")


def modules(code, name):
    return {piece.module for piece in code.dependencies(f"benchmarks.bench_{name}")}


FOLLOWED = {
    "benchmarks/bench_demo.py": "ADDED",
    "docs/tutorials/lesson.py": "ADDED",
    "examples/parts.py": "draw",
    "src/tradeoff/cli.py": "main",
    "src/tradeoff/inside.py": "deep",
    "src/tradeoff/line.py": "curve",
    "src/tradeoff/ratio/registry.py": "ESTIMATORS",
    "src/tradeoff/ratio/tree.py": "Tree",
    "src/tradeoff/scripted.py": "read",
}
"""Files with a definition of each that is reached; of the first two, every one is."""

UNRELATED = [
    "benchmarks/harness.py",
    "docs/tutorials/other.py",
    "src/tradeoff/typed.py",
    "src/tradeoff/unrelated.py",
]


@pytest.mark.parametrize(("file", "name"), FOLLOWED.items())
def test_another_definition_of_a_name_that_is_reached_changes_the_hash(repository, file, name):
    before = hash_of(repository)
    path = repository / file
    path.write_text(f"{path.read_text()}\n{name} = 2\n")
    assert hash_of(repository) != before


@pytest.mark.parametrize("file", [*UNRELATED, *list(FOLLOWED)[2:]])
def test_a_definition_that_nothing_measured_uses_does_not_change_the_hash(repository, file):
    before = hash_of(repository)
    path = repository / file
    path.write_text(path.read_text() + "\nADDED = 2\n")
    assert hash_of(repository) == before


@pytest.mark.parametrize(
    ("used", "added", "is_followed"),
    [
        ("from tradeoff import policy\nx = policy.LIMIT\n", "OTHER = 2", False),
        ("from tradeoff import policy\nx = policy.LIMIT\n", "LIMIT = 2", True),
        ("from tradeoff import policy\nx = policy.LIMIT\n", "_HALF = 3", True),
        ("import tradeoff.policy\nx = tradeoff.policy.LIMIT\n", "OTHER = 2", False),
        ("import tradeoff.policy\nx = tradeoff.policy.LIMIT\n", "LIMIT = 2", True),
        ("import tradeoff.policy as p\nx = vars(p)\n", "OTHER = 2", True),
        ("from tradeoff.policy import LIMIT\nx = LIMIT\n", "register(LIMIT)", True),
    ],
)
def test_of_a_module_what_is_used_counts_and_what_that_uses(repository, used, added, is_followed):
    (repository / "benchmarks/bench_demo.py").write_text(used)
    policy = repository / "src/tradeoff/policy.py"
    policy.write_text("_HALF = 1\nLIMIT = 2 * _HALF\n")
    before = hash_of(repository)
    policy.write_text(f"{policy.read_text()}{added}\n")
    assert (hash_of(repository) != before) == is_followed


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("src/tradeoff/ratio/tree.py", "A tree.", "A tree with leaves."),
        ("src/tradeoff/ratio/tree.py", '    """A tree."""\n\n', ""),
        ("src/tradeoff/ratio/tree.py", "depth = 1\n", 'depth = 1\n    """Of the tree."""\n'),
        ("src/tradeoff/inside.py", "# as it is", "# unchanged"),
        ("src/tradeoff/inside.py", "deep(x):", "deep(\n    x\n):"),
        (
            "benchmarks/bench_demo.py",
            "tradeoff.typed import Name",
            "tradeoff.unrelated import other",
        ),
    ],
)
def test_docstrings_comments_layout_and_types_do_not_change_the_hash(repository, name, old, new):
    before = hash_of(repository)
    path = repository / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert hash_of(repository) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("src/tradeoff/ratio/tree.py", "depth = 1", "depth = 2"),
        ("src/tradeoff/inside.py", "return x", "return -x"),
        ("benchmarks/bench_demo.py", '"ratio"', '"share"'),
    ],
)
def test_a_small_change_of_code_changes_the_hash(repository, name, old, new):
    before = hash_of(repository)
    path = repository / name
    path.write_text(path.read_text().replace(old, new))
    assert hash_of(repository) != before


def test_an_estimator_that_is_added_to_a_registry_is_followed(repository):
    (repository / "src/tradeoff/ratio/forest.py").write_text("class Forest: ...\n")
    registry = repository / "src/tradeoff/ratio/registry.py"
    registry.write_text('ESTIMATORS = ["tradeoff.ratio.tree:Tree", "tradeoff.ratio.forest:Forest"]')
    assert "tradeoff.ratio.forest" in modules(Code(repository), "demo")


def test_every_module_of_a_package_that_is_imported_by_computed_names_is_followed(repository):
    (repository / "benchmarks/bench_demo.py").write_text(
        "from importlib import import_module\n"
        'found = [import_module(f"tradeoff.ratio.{name}") for name in "ab"]\n'
    )
    found = modules(Code(repository), "demo")
    assert found == {"benchmarks.bench_demo", "tradeoff.ratio.registry", "tradeoff.ratio.tree"}


@pytest.mark.slow
def test_real_benchmarks_depend_on_what_they_measure():
    code = Code()
    verdict = modules(code, "verdict")
    assert {"benchmarks.faults", "tradeoff.ratio.stack", "tradeoff.ratio.trees"} <= verdict
    neighbors = modules(code, "neighbors")
    assert "tradeoff.metrics.neighbors.support" in neighbors
    assert not [name for name in neighbors if name.startswith("tradeoff.ratio")]


@pytest.mark.slow
def test_a_variant_has_the_code_of_its_benchmark():
    assert code_of("sanity-full") == code_of("sanity")
    assert len(code_of("sanity")) == 12
