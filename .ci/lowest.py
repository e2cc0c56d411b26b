"""Print the declared lower bounds of the package, and of the extras named, as constraints."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = [project["optional-dependencies"][name] for name in sys.argv[1:]]
bounds = {bound for group in (project["dependencies"], *extras) for bound in group}
sys.stdout.writelines(bound.replace(">=", "==") + "\n" for bound in sorted(bounds))
