# Everything a person or CI needs: `make demo` shows what this is, `make test` proves it.
.PHONY: demo test test-long test-sanitized fuzz check wheel bench figures reference pictures setup clean
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
COMPILE = $(CXX) $(shell $(BIN)/python -c "import nanobind, numpy, sysconfig; \
  print('-isystem', nanobind.include_dir(), '-isystem', numpy.get_include(), '-isystem', sysconfig.get_path('include'))")
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
SANITIZED = nice -n 10 env LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc $(ONE_THREAD) .sanitized/bin/python
SECONDS ?= 60

setup: $(STAMP)

$(STAMP): pyproject.toml CMakeLists.txt $(wildcard native/*)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $(STAMP)

demo: $(STAMP)  ## a minute: digits in label order, beside SGD; wrong labels found; one forgotten
	$(BIN)/minout demo --out demo

test: $(STAMP)
	$(ONE_THREAD) $(BIN)/pytest -n 2 --dist worksteal

test-long: $(STAMP)  ## hours: many more random cases, kills and damages
	$(ONE_THREAD) MINOUT_LONG=1 $(BIN)/pytest -n 2 --dist worksteal

test-sanitized: .sanitized/.installed  ## the tests of the arithmetic on kernels that stop at undefined behaviour and reads out of bounds
	$(SANITIZED) -m pytest -q --import-mode=importlib tests/kernels tests/core tests/features tests/paper

fuzz: .sanitized/.installed  ## random problems, sensible and not, on the same kernels
	$(SANITIZED) tests/fuzz.py $(SECONDS)

.sanitized/.installed: pyproject.toml CMakeLists.txt $(wildcard native/*) $(shell find src -name '*.py')
	$(PYTHON) -m venv .sanitized
	.sanitized/bin/pip install --quiet --disable-pip-version-check -C cmake.define.MINOUT_SANITIZE=ON \
	  -C build-dir=build/sanitized ".[dev]"
	touch $@

wheel: $(STAMP)  ## dist/: a wheel that needs no compiler
	rm -rf dist
	$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist/built .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist dist/built/*.whl
	rm -r dist/built

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror native/*
	$(COMPILE) -std=c++17 -fvisibility=hidden -fsyntax-only -Wall -Wextra -Werror -DMINOUT_MODULE=_baseline native/module.cpp

bench: $(STAMP)
	$(BIN)/python -m benchmarks paper

figures: $(STAMP)
	$(BIN)/minout reproduce all --out figures

reference: $(STAMP)  ## docs/reference.md, from the docstrings
	$(BIN)/python docs/make_reference.py

pictures: $(STAMP)  ## docs/pictures/regions.png
	$(BIN)/python docs/make_pictures.py

clean:
	rm -rf .venv demo figures .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .sanitized build dist
