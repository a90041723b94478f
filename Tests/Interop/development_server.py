"""A development server of a test module's own that takes any credential and token, and a client of its plain listener."""

import httpx
import pytest

from vendor_requests import open_server


@pytest.fixture(scope="module")
def server(tmp_path_factory, request):
    name = request.module.__name__.removeprefix("test_")
    with open_server(tmp_path_factory.mktemp(name), name) as server:
        yield server


@pytest.fixture
def http(server):
    """The test API; what earlier tests sent and set is forgotten."""
    with httpx.Client(base_url=server.ready["http"], timeout=70) as client:
        client.post("/v1/reset").raise_for_status()
        yield client
