"""A number with more digits than a float has means the same at the wire and to the dispatcher."""

import pytest
from tests.support.lab import Lab
from tests.support.schedules import slots_of


@pytest.mark.parametrize("number", ["60.00000000000000000001", "6e1", "60.0", "0.6E+2"])
def test_a_rhythm_of_many_digits(lab: Lab, number: str) -> None:
    """The API read the text, 60.001 s when rounded up, and the dispatcher a float: the slots were not those shown."""
    body = f'{{"handler":"test.record","every":{number},"grace":{number}}}'
    put = lab.call("PUT", "/schedules/s", body).body
    got = lab.call("GET", "/schedules/s").body
    assert (put["next"], put["every"]) == (got["next"], got["every"])
    assert put["next"][0]["slot"] == "2027-01-04T08:01:30Z"
    lab.advance(minutes=12)
    assert {each["slot"] for each in put["next"]} <= set(slots_of("s"))
    assert lab.call("PUT", "/schedules/s", body).body["version"] == 1
