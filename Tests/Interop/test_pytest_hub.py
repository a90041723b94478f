"""The plugin's fixture of a notification hub, used by PyPI's client of Azure Notification Hubs."""

import pytest

from pages import blocks
from plugin_suite import Suite, passed
from test_pytest_plugin import in_namespaces


@pytest.fixture
def suite(tmp_path):
    return Suite(tmp_path)


HUB = '''
import pytest
from azure_notification_hub.client import NotificationHubsClient
from azure_notification_hub.notifications import create_apple_body, create_apple_notification

@pytest.fixture
def azure(hub, monkeypatch):
    """A client of Azure's, told of nothing but the connection string and the authority to trust."""
    monkeypatch.setenv("SSL_CERT_FILE", str(hub.ca))
    client = NotificationHubsClient(hub.connection_string, hub.name)
    yield client
    client.close()

def send(azure, tags):
    rain = create_apple_notification(create_apple_body(alert="Rain at five"))
    return azure.send_notification(rain, tag_expression=tags)["notificationId"]

@pytest.mark.parametrize("number", range(2))
def test_each(azure, hub, received, number):
    assert hub.wait_for(send(azure, "weather")) == []
    for name in "one", "two":
        azure.create_or_update_installation({
            "installationId": name, "platform": "aldaba", "pushChannel": hub.new_token(), "tags": ["weather", name]})
    azure.create_or_update_installation({
        "installationId": "bad", "platform": "aldaba", "pushChannel": "00ff", "tags": ["bad"]})
    recipients = hub.wait_for(send(azure, "weather && !two"))
    assert [(each["installationId"], each["outcome"]) for each in recipients] == [("one", "Success")]
    assert [each["outcome"] for each in hub.wait_for(send(azure, "bad"))] == ["BadChannel"]
    assert received.all() == []

def test_waiting(hub):
    server, path = hub.server, f"/v1/hubs/{hub.name}/campaigns"
    late = server.request("POST", path, {"content": {"title": "x"}, "at": "2090-01-01T00:00:00Z"})["id"]
    with pytest.raises(AssertionError, match="has not ended within 0.1 s: it is Scheduled"):
        hub.wait_for(late, timeout=0.1)
    assert "SharedAccessKey=" in hub.connection_string and "SharedAccessKey" not in repr(hub)
'''


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_each_test_has_a_notification_hub_with_an_app_of_its_own(suite, arguments):
    passed(suite.run(HUB, *arguments), 3)


def test_the_guide_s_hub_is_used_as_the_guide_says(suite):
    program, = (block for block in blocks("pytest.md", "text") if "hub.connection_string" in block)
    imports = "".join(line + "\n" for line in HUB.splitlines() if line.startswith("from "))
    passed(suite.run(imports + program), 1)


@in_namespaces
def test_a_hub_is_made_on_the_server_of_aldaba_run(suite):
    passed(suite.run(HUB, "--aldaba-run"), 3)
