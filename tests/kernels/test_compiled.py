"""Kernels work also where nothing can be kept on disk."""

from minout.kernels import _compiled


def test_a_kernel_without_a_place_for_its_cache_is_compiled_all_the_same(monkeypatch):
    njit = _compiled.njit

    def nowhere(**options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(_compiled, "njit", nowhere)
    assert _compiled.compiled(lambda x: x + 1)(2) == 3
