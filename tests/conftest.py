"""How random tests run: the same cases everywhere, and no deadline, since a first call compiles.

`pytest --hypothesis-profile search` draws new cases, and more of them.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "minout",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile(
    "search", settings.get_profile("minout"), derandomize=False, max_examples=300
)
settings.register_profile("quick", settings.get_profile("minout"), max_examples=20)
settings.load_profile("minout")
