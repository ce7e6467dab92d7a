# Everything a person or CI needs: `make demo` shows what this is, `make test` proves it.
.PHONY: demo test test-long check bench figures reference pictures setup clean
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $(STAMP)

demo: $(STAMP)  ## a minute: digits in label order, beside SGD; wrong labels found; one forgotten
	$(BIN)/minout demo --out demo

test: $(STAMP)
	$(BIN)/minout warmup
	$(ONE_THREAD) $(BIN)/pytest -n 2 --dist worksteal

test-long: $(STAMP)  ## hours: many more random cases, kills and damages; kernels uncompiled, and with bounds checked
	$(ONE_THREAD) MINOUT_LONG=1 $(BIN)/pytest -n 2 --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -q --hypothesis-profile=uncompiled tests/kernels
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.numba_boundscheck $(BIN)/pytest -q tests/kernels tests/core/test_walk.py

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks paper

figures: $(STAMP)
	$(BIN)/minout reproduce all --out figures

reference: $(STAMP)  ## docs/reference.md, from the docstrings
	$(BIN)/python docs/make_reference.py

pictures: $(STAMP)  ## docs/pictures/regions.png
	$(BIN)/python docs/make_pictures.py

clean:
	rm -rf .venv demo figures .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .numba_boundscheck
