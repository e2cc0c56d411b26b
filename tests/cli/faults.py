"""Comparisons of models with known faults, by the command."""

import json

from tests.cli.run import tradeoff

QUICK = ["--estimator", "fast", "--no-diagnose", "--metrics", "curve,knn,copies", "--json"]


def compare(real, models, *options):
    arguments = [f"{name}={path}" for name, path in models.items()]
    done = tradeoff("compare", "--real", str(real), "--generated", *arguments, *QUICK, *options)
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def findings(result, name):
    return {finding["name"] for finding in result["evaluations"][name]["findings"]}


def limits(result, name, key):
    found = result["evaluations"][name]["scores"][key]
    return found["low"], found["high"]
