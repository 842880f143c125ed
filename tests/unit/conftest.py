"""How long hypothesis tries: a machine that is busy with other things is no failure."""

from hypothesis import HealthCheck, settings

settings.register_profile("unit", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unit")
