PYTHON ?= python

.PHONY: help install check test test-lowest docs data bench dist first-contact

help:            ## show this list
	@grep -E '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

install:         ## install the package and everything for development
	$(PYTHON) -m pip install --upgrade "pip>=25.1"
	$(PYTHON) -m pip install -c .ci/constraints.txt --group dev -e .

check:           ## lint, format, types, layers
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	lint-imports

test:            ## the whole test suite, doctests and documentation examples included
	$(PYTHON) -m pytest -n auto --dist loadfile

test-lowest:     ## the tests without PyTorch, on the declared lower bounds
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(PYTHON) .ci/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet -c .venv-lowest/constraints.txt --group test .
	.venv-lowest/bin/python -m pytest -q -n auto --dist loadfile -m "not torch" tests

docs:            ## build the site; any warning is an error
	$(PYTHON) -m sphinx -W --keep-going -n -q -b html docs docs/_build/html

data:            ## real images and texts, embedded for the tests
	$(PYTHON) -m benchmarks.datasets --quick
	$(PYTHON) -m benchmarks.scenarios

bench:           ## every benchmark at full size
	@for file in benchmarks/bench_*.py; do name=$${file#benchmarks/bench_}; \
	  $(MAKE) --no-print-directory bench-$${name%.py} || exit 1; done

bench-%:         ## one benchmark at full size; resumes, and writes benchmarks/results/NAME.json
	$(PYTHON) -m benchmarks.bench_$*

dist:            ## build sdist and wheel, and smoke-test the wheel in a clean environment
	rm -rf dist .venv-wheel
	$(PYTHON) -m build --quiet
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet dist/*.whl
	cd .venv-wheel && bin/python ../.ci/smoke.py

first-contact:   ## do what the README shows with the wheel, and compare what is printed
	.venv-wheel/bin/python -m pip install --quiet -c .ci/constraints.txt "$$(ls dist/*.whl)[images,offline]"
	PYTHONPATH=. .venv-wheel/bin/python .ci/first_contact.py
