"""The API answers who signs, and nobody else."""

from dataclasses import replace

import pytest
from botocore.credentials import Credentials
from tests.e2e.deployed import Deployed

pytestmark = pytest.mark.e2e


def test_a_signed_call_is_answered(stack: Deployed) -> None:
    assert stack.client.call("GET", "/health").status == 200


def test_an_unsigned_call_is_refused(stack: Deployed) -> None:
    assert replace(stack.client, credentials=None).call("GET", "/health").status == 403


def test_a_call_signed_with_an_unknown_key_is_refused(stack: Deployed) -> None:
    stranger = Credentials("AKIAIOSFODNN7EXAMPLE", "secret")
    assert replace(stack.client, credentials=stranger).call("GET", "/health").status == 403
