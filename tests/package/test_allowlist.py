"""What opens files of others, or runs code by name, appears only where it is listed here."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import tradeoff

SOURCE = Path(tradeoff.__file__).parent
ALLOWED = {
    ("_extras.py", "importlib.import_module"): (
        1,
        "packages whose names are constants in our code",
    ),
    ("_registry.py", "entry.load"): (1, "entry points of packages that the user installed"),
    ("_registry.py", "importlib.import_module"): (1, "modules that declarations in code name"),
    ("cli/reference.py", "tradeoff.evaluation.Reference.load"): (1, "our own JSON and arrays"),
    ("cli/report.py", "tradeoff.load"): (1, "our own JSON and Parquet"),
    ("comparison/models.py", "Comparison.load"): (1, "our own JSON and Parquet"),
    ("comparison/models.py", "tradeoff.evaluation.result.Evaluation.load"): (
        1,
        "our own JSON and Parquet",
    ),
    ("counting/plan.py", "tradeoff.ratio.frozen.FrozenRule.load"): (1, "our own JSON and arrays"),
    ("counting/state.py", "numpy.load"): (1, "arrays only, `allow_pickle=False`"),
    ("counting/workplace.py", "tradeoff.counting.plan.CountingPlan.load"): (
        2,
        "our own JSON and arrays",
    ),
    ("engines.py", "pickle"): (2, "the import and `pickle.loads`"),
    ("engines.py", "pickle.loads"): (1, "a file that the parent wrote for its worker alone"),
    ("integrations/lightning.py", "pickle"): (2, "the import and `pickle.UnpicklingError`"),
    ("integrations/lightning.py", "pickle.UnpicklingError"): (1, "is caught"),
    ("integrations/lightning.py", "torch.load"): (1, "weights_only=True, of this run"),
    ("integrations/loggers.py", "PIL.Image.open"): (1, "a figure that was drawn in memory"),
    ("ratio/frozen.py", "numpy.load"): (1, "arrays only, `allow_pickle=False`"),
    ("evaluation/pipeline.py", "tradeoff.evaluation.reference.Reference.load"): (
        1,
        "our own JSON and arrays",
    ),
    ("evaluation/reference_files.py", "numpy.load"): (1, "with allow_pickle=False"),
    ("data/arrays.py", "numpy.load"): (1, "with allow_pickle=False"),
    ("_pictures.py", "PIL.Image.open"): (1, "the only place that decodes images"),
    ("_pictures.py", "picture.load"): (1, "pixels of a format that starts no program"),
    ("features/files.py", "onnx.load"): (1, "protobuf, without external data"),
    ("features/files.py", "torch.export.load"): (1, "after `_check_trust`"),
    ("features/files.py", "torch.jit.load"): (1, "after `_check_trust`"),
    ("features/hub.py", "sentence_transformers.SentenceTransformer"): (1, "after `refuse_code`"),
    ("features/hub.py", "transformers.AutoModel.from_pretrained"): (1, "after `refuse_code`"),
    ("features/hub_files.py", "huggingface_hub.snapshot_download"): (
        3,
        "no Python files are fetched",
    ),
    ("features/offline.py", "torch.load"): (1, "weights_only=True, after `check_sha256`"),
    ("features/runtime.py", "onnxruntime.InferenceSession"): (1, "ONNX holds no code"),
    ("features/surprisal.py", "package.AutoConfig.from_pretrained"): (1, "after `refuse_code`"),
    ("features/surprisal.py", "package.AutoTokenizer.from_pretrained"): (1, "after `refuse_code`"),
    ("features/surprisal.py", "transformers.AutoModelForCausalLM.from_pretrained"): (
        1,
        "after `refuse_code`",
    ),
    ("features/trust.py", "sentence_transformers.util.import_from_string"): (
        1,
        "names that begin with sentence_transformers only",
    ),
}
"""File and name, with the number of occurrences and why they are safe."""

MODULES = {"cloudpickle", "ctypes", "dill", "marshal", "pickle", "runpy", "shelve", "subprocess"}
MODULES |= {"multiprocessing", "yaml"}
BUILTINS = {"__import__", "compile", "eval", "exec"}
ATTRIBUTES = {
    "InferenceSession",
    "SentenceTransformer",
    "from_pretrained",
    "import_from_string",
    "import_module",
    "load",
    "load_dataset",
    "load_from_disk",
    "load_url",
    "loads",
    "read_pickle",
    "snapshot_download",
}
HARMLESS = {"json.load", "json.loads", "tomllib.load", "tomllib.loads"}
HARMLESS |= {"image.load"}  # decodes the pixels of an image that `PIL.Image.open` returned
PROCESSES = ("os.exec", "os.fork", "os.popen", "os.posix_spawn", "os.spawn", "os.startfile")
PROCESSES += ("os.system",)


def occurrences(code):
    """Every dangerous name in a piece of code, called or passed on, under its full name."""
    tree = ast.parse(code)
    pairs = [pair for node in ast.walk(tree) for pair in bindings(node)]
    attributes = {name: package for name, package in pairs if name.startswith("self.")}
    return Counter(name for name in names_in(tree, attributes) if is_dangerous(name))


def names_in(scope, outer):
    """Full names in a module or function, where each function has bindings of its own."""
    own, functions, waiting = [], [], list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.append(node)
        else:
            own.append(node)
            waiting += ast.iter_child_nodes(node)
    known = outer | dict(pair for node in own for pair in bindings(node))
    yield from (name for node in own for name in uses(node, known))
    for function in functions:
        yield from names_in(function, known)


def bindings(node):
    """Names that an import, or `name = import_extra("package")`, binds, and to what."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (top, top)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"
    elif isinstance(node, (ast.Assign, ast.AnnAssign)) and (package := imported(node.value)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield ast.unparse(target), package


def imported(node):
    """The package of a call `import_extra("package", …)`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "import_extra":
        return ast.literal_eval(node.args[0]) if isinstance(node.args[0], ast.Constant) else None
    return None


def uses(node, known):
    """Full names in an expression, and modules in an import."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
    elif package := imported(node):
        yield package
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield known.get(node.id, node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield full_name(node, known)


def full_name(node, known):
    written = ast.unparse(node)
    if written in known:
        return known[written]
    if isinstance(node, ast.Attribute):
        return f"{full_name(node.value, known)}.{node.attr}"
    if isinstance(node, ast.Call):
        return imported(node) or "()"
    return known.get(written, written)


def is_dangerous(name):
    if name in HARMLESS:
        return False
    first, _, last = name.rpartition(".")
    if not first:
        return name in BUILTINS | MODULES
    return (
        name.partition(".")[0] in MODULES
        or last in ATTRIBUTES
        or name.startswith(PROCESSES)
        or (last == "open" and first.startswith("PIL"))
        or (first == "builtins" and last in BUILTINS)
    )


@pytest.mark.slow
def test_dangerous_names_appear_only_where_they_are_listed():
    found = Counter()
    for path in sorted(SOURCE.rglob("*.py")):
        for name, count in occurrences(path.read_text(encoding="utf-8")).items():
            found[path.relative_to(SOURCE).as_posix(), name] = count
    listed = {place: count for place, (count, _) in ALLOWED.items()}
    new = {place: n for place, n in found.items() if n > listed.get(place, 0)}
    assert new == {}, "Say in ALLOWED why this is safe, or remove it."
    stale = {place: n for place, n in listed.items() if found[place] < n}
    assert stale == {}, "Remove what is gone from ALLOWED."


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import torch\ntorch.load(path)", "torch.load"),
        ("import torch as t\nt.jit.load(path)", "torch.jit.load"),
        ("from torch.export import load as read\nread(path)", "torch.export.load"),
        ("t = import_extra('torch', extra='torch')\nt.load(path)", "torch.load"),
        ("import_extra('torch').load(path)", "torch.load"),
        ("self.t = import_extra('torch')\nself.t.load(path)", "torch.load"),
        ("from joblib import load\nlist(map(load, paths))", "joblib.load"),
        ("import numpy as np\nreader = np.load", "numpy.load"),
        ("from PIL import Image\nImage.open(path)", "PIL.Image.open"),
        ("import PIL.Image\nPIL.Image.open(path)", "PIL.Image.open"),
        ("p = import_extra('PIL.Image')\np.open(path)", "PIL.Image.open"),
        ("from PIL.Image import open as look\nlook(path)", "PIL.Image.open"),
        ("Anything.from_pretrained(x)", "Anything.from_pretrained"),
        ("import importlib\nimportlib.import_module(x)", "importlib.import_module"),
        ("exec(code)", "exec"),
        ("eval(code)", "eval"),
        ("list(map(eval, codes))", "eval"),
        ("import subprocess", "subprocess"),
        ("from subprocess import run", "subprocess"),
        ("import pickle as p", "pickle"),
        ("import yaml", "yaml"),
        ("yaml = import_extra('yaml', extra='x')", "yaml"),
        ("import os\nos.system(x)", "os.system"),
    ],
)
def test_a_dangerous_name_is_found_however_it_is_written(code, name):
    assert occurrences(code)[name] >= 1


@pytest.mark.parametrize(
    "code",
    [
        "network.eval()",
        "import json\njson.loads(text)",
        "path.open('rb')",
        "import re\nre.compile(x)",
        "network.load_state_dict(weights)",
    ],
)
def test_ordinary_code_is_not_reported(code):
    assert not occurrences(code)
