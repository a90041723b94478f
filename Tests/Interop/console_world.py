"""What a server has when the console's pages are looked at, and the pages: other tests extend both here."""

import json
import re
import uuid
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode, urlsplit

import httpx

from waiting import wait_until

UNKNOWN_TOKEN = "ab" * 32

# Every page by its name. Names in braces are members of the world below; a page whose member is absent is left out.
PAGES = {
    "inbox": "/console/",
    "inbox-filtered": "/console/?state=refused&reason=BadDeviceToken",
    "inbox-empty": "/console/?text=no-notification-has-this-text",
    "notification": "/console/notifications/{shown}",
    "notification-refused": "/console/notifications/{refused}",
    "notification-waiting": "/console/notifications/{waiting}",
    "notification-unknown": "/console/notifications/1",
    "compose": "/console/compose",
    "compose-filled": "/console/compose?title=Buy+milk&body=Two+bottles",
    "campaigns": "/console/campaigns",
    "campaign-new": "/console/campaigns/new",
    "campaign": "/console/campaigns/{campaign}",
    "campaign-recipients": "/console/campaigns/{campaign}/recipients",
    "reports": "/console/reports",
    "reports-long": "/console/reports?from=2026-01-01&to=2026-03-01&by=app",
    "reports-send": "/console/reports/sends?id={shown}",
    "audiences": "/console/audiences?expression=",
    "audiences-fault": "/console/audiences?expression=a+b",
    "installations": "/console/installations",
    "installation": "/console/installations/{installation}",
    "person": "/console/users/{person}",
    "templates": "/console/templates?installation={installation}",
    "devices": "/console/devices",
    "preferences": "/console/preferences",
    "api": "/console/api",
    "account": "/console/account",
    "account-teams": "/console/account/teams",
    "account-apps": "/console/account/apps",
    "account-app": "/console/account/apps/com.example.todo",
    "account-app-remove": "/console/account/apps/com.example.todo/remove",
    "account-certificates": "/console/account/certificates",
    "account-keys": "/console/account/keys",
    "account-key-revoke": "/console/account/keys/ABCDE12345/revoke",
    "account-service-accounts": "/console/account/service-accounts",
    "account-enrolment-keys": "/console/account/enrolment-keys",
    "account-hubs": "/console/account/hubs",
    "account-hub": "/console/account/hubs/todo",
    "device": "/console/devices/{device}",
    "health": "/console/health",
    "relay": "/console/relay",
    "audit": "/console/audit",
    "audit-filtered": "/console/audit?action=revokeKey",
    "preferences": "/console/preferences",
    "not-found": "/console/no-such-page",
}


@dataclass
class World:
    """A server with notifications of several ends, by their ids."""

    address: str
    members: dict = field(default_factory=dict)

    def pages(self):
        """The path of each page whose members are there."""
        found = {}
        for name, path in PAGES.items():
            if all(member in self.members for member in re.findall(r"{(\w+)}", path)):
                found[name] = path.format(**self.members)
        for path in self.navigation():
            if path not in found.values():
                found[path.strip("/").replace("/", "-")] = path
        return found

    def navigation(self):
        """The paths of the navigation, as the first page shows it."""
        text = httpx.get(f"{self.address}/console/").text
        part = re.search(r'<header class="top">(.*?)</header>', text, re.S)
        return [path for path in re.findall(r'href="([^"]+)"', part[1]) if urlsplit(path).path.startswith("/console/")]


def notifications(address, **query):
    return httpx.get(f"{address}/v1/notifications?{urlencode(query, quote_via=quote)}").raise_for_status().json()["notifications"]


def wait_for_notification(address, title, what=lambda item: True):
    """The notification with a title, once `what` is true of it."""
    return wait_until(
        lambda: next((item for item in notifications(address, text=title) if what(item)), None),
        f"a notification {title} is in the list")


def refuse(path, provider):
    """Has the server refuse a push for its device token; the id of its timeline."""
    apns_id = str(uuid.uuid4())
    answer = provider.post(UNKNOWN_TOKEN, {"aps": {"alert": "Nobody gets this"}}, apns_id=apns_id)
    assert (answer.status, answer.reason) == (400, "BadDeviceToken")
    found = wait_until(
        lambda: httpx.get(f"{path['http']}/v1/notifications/{apns_id}").json() or None, "the refusal has a timeline")
    return found[0]["id"]


def make_campaign(path):
    """Puts an installation and begins a campaign for it; their ids."""
    hub = f"{path['http']}/v1/hubs/{path['hubName']}"
    installation = {
        "platform": "aldaba", "pushChannel": path["deviceToken"], "tags": ["weather"], "userId": "anna",
        "templates": {"storm": {"body": json.dumps({"aps": {"alert": "{'Storm at ' + $(place)}"}})}}}
    httpx.put(f"{hub}/installations/demo", json=installation).raise_for_status()
    campaign = {"name": "Rain", "audience": "weather", "content": {"title": "Rain", "body": "At five"}}
    begun = httpx.post(f"{hub}/campaigns", json=campaign).raise_for_status().json()
    return {"campaign": begun["id"], "installation": "demo", "person": "anna"}


def make_world(path, provider):
    """Sends a notification of each kind that a page has something to show for."""
    world = World(path["http"])
    token = path["deviceToken"]
    payload = {
        "aps": {"alert": {"title": "Buy milk", "subtitle": "Today", "body": "Two bottles, and the red net"}, "badge": 3},
        "todo": "Buy milk", "a-long-value": "abcdefghij" * 20}
    assert provider.post(token, payload).status == 200
    world.members["shown"] = wait_for_notification(
        world.address, "Buy milk", lambda item: item["last"] in ("presented", "handed"))["id"]
    world.members["refused"] = refuse(path, provider)
    world.members |= make_campaign(path)
    wait_for_notification(world.address, "Rain", lambda item: item["last"] in ("presented", "handed"))
    devices = httpx.get(f"{world.address}/v1/devices").json()
    world.members["device"] = devices["devices"][0]["device"]
    return world
