PYTHON ?= python
# Files with slow tests come first (conftest.py), so that no worker is left with one at the end.
TESTS = -m pytest -n auto --dist loadfile --no-loadscope-reorder

.PHONY: help browser install check quick test test-all test-lowest test-lowest-hub test-lowest-torch test-bucket test-trackers docs tutorials data bench stale dist sbom first-contact

help:            ## show this list
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

install:         ## install the package and everything for development
	$(PYTHON) -m pip install --upgrade "pip>=25.1"
	$(PYTHON) -m pip install -c .ci/constraints.txt --group dev -e .

check:           ## lint, format, types, layers, spelling, prose
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	lint-imports
	$(PYTHON) -m codespell_lib
	$(PYTHON) .ci/prose.py

quick:           ## install without PyTorch, Chromium and data, and run the quick tests: a first check of a clone
	$(PYTHON) -m pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) -m pip install --quiet --group test -e ".[images,remote]"
	$(PYTHON) $(TESTS) -q -m "not slow" tests

test:            ## the tests that take less than about a second each, doctests and documentation examples included
	$(PYTHON) $(TESTS) -m "not slow"

test-all:        ## the whole test suite, slow tests included
	$(PYTHON) $(TESTS)

# Tests of the mathematics and the project's own files do not depend on versions.
ANY_VERSION = $(addprefix --ignore=tests/,laws errata convention package)

test-lowest:     ## the quick tests without PyTorch, on the lower bounds of the package and its readers
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) .ci/lowest.py images datasets > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet -c .venv-lowest/constraints.txt --group test ".[images,datasets]"
	.venv-lowest/bin/python $(TESTS) -q -m "not torch and not ray and not slow" $(ANY_VERSION) tests benchmarks/tests/parity

ENCODERS = images,hub,onnx,offline

test-lowest-hub: ## the encoders on the lower bounds of their packages, with the PyTorch build of CI
	$(PYTHON) -m venv .venv-lowest-hub
	.venv-lowest-hub/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) .ci/lowest.py images hub onnx offline | grep -v "^torch==" > .venv-lowest-hub/constraints.txt
	.venv-lowest-hub/bin/python -m pip install --quiet -c .venv-lowest-hub/constraints.txt \
	  -c .ci/constraints.txt --group test ".[$(ENCODERS)]"
	.venv-lowest-hub/bin/python $(TESTS) -q tests/features

test-lowest-torch: ## the same on the lower bound of PyTorch too; its wheels bring CUDA, so not in CI
	$(PYTHON) -m venv .venv-lowest-torch
	.venv-lowest-torch/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) .ci/lowest.py images hub onnx offline > .venv-lowest-torch/constraints.txt
	.venv-lowest-torch/bin/python -m pip install --quiet -c .venv-lowest-torch/constraints.txt \
	  --group test ".[$(ENCODERS)]"
	.venv-lowest-torch/bin/python $(TESTS) -q tests/features tests/training tests/core

# s3fs and moto need older versions of some packages than the others: their own are found first.
BUCKET_PACKAGES = .venv-bucket/lib/python$(shell $(PYTHON) -c "import sys; print('%d.%d' % sys.version_info[:2])")/site-packages
test-bucket:     ## runs on a bucket behind HTTP, with workers and drivers that are killed
	$(PYTHON) -m venv .venv-bucket
	$(PYTHON) -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" > $(BUCKET_PACKAGES)/others.pth
	.venv-bucket/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-bucket/bin/python -m pip install --quiet --group bucket
	.venv-bucket/bin/python -m pytest -q -n 0 tests/engine/test_bucket.py

bench-remote: test-bucket ## embedding from and to a bucket, in the environment of test-bucket
	.venv-bucket/bin/python -m benchmarks.bench_remote

# So do wandb and MLflow.
TRACKERS_PACKAGES = $(subst bucket,trackers,$(BUCKET_PACKAGES))
test-trackers:   ## the loggers of Weights & Biases and MLflow, with their packages
	$(PYTHON) -m venv .venv-trackers
	$(PYTHON) -c "import sysconfig; print('import site; site.addsitedir(%r)' % sysconfig.get_path('purelib'))" > $(TRACKERS_PACKAGES)/others.pth
	.venv-trackers/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-trackers/bin/python -m pip install --quiet --group trackers
	.venv-trackers/bin/python -m pytest -q -n 0 tests/integrations/test_trackers.py

docs:            ## build the site; any warning is an error
	$(PYTHON) -m sphinx -W --keep-going -n -q -b html docs docs/_build/html

tutorials:       ## execute docs/tutorials/*.py and write the notebooks that the site shows
	$(PYTHON) .ci/tutorials.py

data:            ## real images and texts, embedded for the tests of the benchmarks
	$(PYTHON) -m benchmarks.datasets --quick
	$(PYTHON) -m benchmarks.scenarios

browser:         ## Chromium from the system's packages, for the tests of the report page
	command -v chromium >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium) >/dev/null

bench:           ## the release benchmarks (benchmarks/__init__.py) at full size
	@for name in $$($(PYTHON) -c "import benchmarks; print(*benchmarks.RELEASE)"); do \
	  $(MAKE) --no-print-directory bench-$$name || exit 1; done

bench-%:         ## one benchmark at full size; resumes, and writes benchmarks/results/NAME.json
	$(PYTHON) -m benchmarks.bench_$*

stale:           ## list the records that other code measured
	@$(PYTHON) -m benchmarks.stale

dist:            ## build sdist and wheel, and smoke-test the wheel in a clean environment
	rm -rf dist .venv-wheel
	$(PYTHON) -m build --quiet
	$(PYTHON) -m twine check --strict dist/*
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet dist/*.whl
	cd .venv-wheel && bin/python ../.ci/smoke.py

sbom:            ## write dist/sbom.json: what an installation of the wheel with its extras holds
	rm -rf .venv-sbom
	$(PYTHON) -m venv .venv-sbom
	.venv-sbom/bin/python -m pip install --quiet -c .ci/constraints.txt "$$(ls dist/*.whl)[$(ENCODERS)]"
	$(PYTHON) -m venv .venv-cyclonedx
	.venv-cyclonedx/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-cyclonedx/bin/python -m pip install --quiet --group sbom
	.venv-cyclonedx/bin/cyclonedx-py environment --output-reproducible --of JSON \
	  --output-file dist/sbom.json .venv-sbom/bin/python

first-contact:   ## do what the README shows with the wheel, and compare what is printed
	.venv-wheel/bin/python -m pip install --quiet -c .ci/constraints.txt "$$(ls dist/*.whl)[images,offline]"
	PYTHONPATH=. .venv-wheel/bin/python .ci/first_contact.py
