"""Print the declared lower bounds of the package as constraints."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
sys.stdout.writelines(bound.replace(">=", "==") + "\n" for bound in project["dependencies"])
