"""How random tests run everywhere: no deadline, since the first call of a kernel compiles it."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "minout", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("quick", settings.get_profile("minout"), max_examples=20)
settings.load_profile("minout")
