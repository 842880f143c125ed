"""Nothing local ever reaches a real account."""

import os

import boto3
import pytest
from local import account

REAL = {
    "AWS_PROFILE": "production",
    "AWS_ACCESS_KEY_ID": "AKIAREAL",
    "AWS_SECRET_ACCESS_KEY": "real",
    "AWS_SESSION_TOKEN": "real",
    "AWS_ENDPOINT_URL_SQS": "https://sqs.example.com",
    "AWS_CONFIG_FILE": "/home/me/.aws/config",
    "SAM_CLI_CONTAINER_CONNECTION_TIMEOUT": "1",
    "MINISTACK_ACCOUNT_ID": "999999999999",
    "PATH": "/usr/bin",
    "HTTPS_PROXY": "http://proxy.example.com",
    "NO_PROXY": "internal.example.com",
}


def test_what_leads_to_a_real_account_is_taken_out() -> None:
    kept = account.environment(REAL)
    assert not [value for value in kept.values() if "real" in value.lower() or "production" in value]
    assert {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_SQS", "MINISTACK_ACCOUNT_ID"}.isdisjoint(kept)
    assert kept["AWS_CONFIG_FILE"] == kept["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
    assert kept["PATH"] == "/usr/bin"


def test_no_proxy_stands_between_this_machine_and_itself() -> None:
    kept = account.environment(REAL)
    assert kept["HTTPS_PROXY"] == "http://proxy.example.com"
    assert kept["NO_PROXY"] == kept["no_proxy"] == "internal.example.com,127.0.0.1"


def test_behind_the_wall_every_client_is_the_local_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in REAL.items():
        monkeypatch.setenv(name, value)
    with account.isolated():
        client = boto3.client("sqs", endpoint_url="http://127.0.0.1:1")
        credentials = boto3.Session().get_credentials()
    assert client.meta.region_name == account.REGION
    assert credentials is not None
    assert credentials.access_key == account.ID
    assert os.environ["AWS_PROFILE"] == "production"
