"""Measurements of minout beside other models; `python -m benchmarks` lists them."""
