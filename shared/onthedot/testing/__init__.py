"""The whole system in one process, for tests of your own handlers.

    with Lab() as lab:
        lab.schedule("weekly", cron="0 9 * * MON", zone="Europe/Berlin", handler="report.weekly")
        lab.advance(days=7)
        assert [call.slot for call in lab.ran("report.weekly")] == [datetime(2027, 1, 11, 8, tzinfo=UTC)]

No function imports it: it needs moto, time-machine and PyYAML, which are for development.
"""

NEEDED = {"moto": "moto[dynamodb,sqs]", "time_machine": "time-machine", "yaml": "pyyaml"}

try:
    from onthedot.testing.errors import LabError, NoTemplate, ParameterRefused, Refused
    from onthedot.testing.lab import Lab
    from onthedot.testing.requests import Answer
    from onthedot.testing.runs import Ran
except ModuleNotFoundError as error:
    if (missing := (error.name or "").partition(".")[0]) not in NEEDED:
        raise
    raise ImportError(f"onthedot.testing needs {NEEDED[missing]}: make setup installs it") from error

__all__ = ["Answer", "Lab", "LabError", "NoTemplate", "ParameterRefused", "Ran", "Refused"]
