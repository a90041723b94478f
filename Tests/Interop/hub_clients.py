"""The two clients of Azure Notification Hubs, told of nothing but the connection string and the authority to trust."""

import json
import uuid

import requests
from azure_notification_hub.auth import create_sas_token
from azure_notification_hub.client import NotificationHubsClient
from notificationhubs_rest_python.NotificationHub import AzureNotificationHub

from waiting import wait_until


class Hub:
    """A hub under both clients; the environment names the authority before a client is made."""

    def __init__(self, path, monkeypatch, connection=None, name=None):
        monkeypatch.setenv("SSL_CERT_FILE", path["ca"])
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", path["ca"])
        connection, name = connection or path["hub"], name or path["hubName"]
        self.full = NotificationHubsClient(connection, name)
        self.sender = AzureNotificationHub(connection, name)

    def close(self):
        self.full.close()

    def details(self, notification):
        """What telemetry tells of a send, as XML."""
        return self.full.get_notification_outcome_details(notification)["_raw_xml"]

    def wait_for_state(self, notification, state):
        return wait_until(
            lambda: f"<State>{state}</State>" in (told := self.details(notification)) and told,
            f"the send {notification} is {state}")


def apple(text, **more):
    """The body of a native notification, as text."""
    return json.dumps({"aps": {"alert": text}} | more)


class RawAzure:
    """Requests to Azure's data plane, signed, with the headers that its SDKs send."""

    def __init__(self, path):
        self.root = f"{path['http']}/{path['hubName']}"
        key = path["hub"].split("SharedAccessKey=")[1]
        self.token = create_sas_token("DefaultFullSharedAccessSignature", key, self.root.lower() + "/")

    def ask(self, method, rest, body=None, query="", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return requests.request(
            method, f"{self.root}/{rest}?api-version=2020-06{query}", data=body, timeout=20,
            headers={"Authorization": self.token, "TrackingId": str(uuid.uuid4()), "x-ms-version": "2020-06"} | headers)


class OwnHub:
    """The hub's own API on the development listener, which asks nobody who they are."""

    def __init__(self, path, control):
        self._control, self._root = control, f"/v1/hubs/{path['hubName']}"

    def ask(self, method, rest="", document=None, headers=None):
        """One request; returns (status, document)."""
        body = None if document is None else json.dumps(document)
        status, answer = self._control.request(method, self._root + rest, body, headers)
        return status, json.loads(answer) if answer else None

    def wait_for_campaign(self, campaign, state):
        return wait_until(
            lambda: (told := self.ask("GET", f"/campaigns/{campaign}")[1])["state"] == state and told,
            f"the campaign {campaign} is {state}")


def backend(control, key, method, rest, document=None):
    """One request to the tutorial's backend; returns (status, body)."""
    body = None if document is None else json.dumps(document)
    return control.request(
        method, f"/api/notifications/{rest}", body, {"apikey": key, "content-type": "application/json"})
