"""What the .NET SDK of Azure Notification Hubs asks, and the shape of what it was answered by Azure.

The shapes are those of the answers that the SDK's repository keeps as `MockData` (azure-notificationhubs-dotnet): status,
headers, and which elements come in which order, since its serializer passes over what comes out of order.
"""

import json
import re
import uuid
from xml.etree import ElementTree

import pytest

from hub_clients import RawAzure

CONNECT = "{http://schemas.microsoft.com/netservices/2010/10/servicebus/connect}"
ATOM = "{http://www.w3.org/2005/Atom}"
ETAG = "{http://schemas.microsoft.com/ado/2007/08/dataservices/metadata}etag"
TOKEN = "62BCD3484834B7E2DC56733AC5509259230CC1BA82BA1AE7D06E91908A05A8FA"
CHANNELS = {"Apple": "DeviceToken", "FcmV1": "FcmV1RegistrationId", "Gcm": "GcmRegistrationId", "Windows": "ChannelUri",
            "Mpns": "ChannelUri", "Adm": "AdmRegistrationId", "Baidu": "BaiduUserId", "Browser": "Endpoint"}
# What the SDK sends with every template but those of Windows, Apple and browsers.
TEMPLATE = ("<BodyTemplate><![CDATA[{\"data\":{\"key1\":\"$(value1)\"}}]]></BodyTemplate>"
            "<TemplateName>Template Name</TemplateName>")
NEVER = "9999-12-31T23:59:59.9999999Z"


class Client(RawAzure):
    """Requests as the SDK sends them."""

    def register(self, kind="Apple", more="", method="POST", rest="registrations", **headers):
        channel = CHANNELS[kind.removesuffix("Template")]
        entry = (
            f'<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><{kind}RegistrationDescription '
            'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://schemas.microsoft.com/netservices/2010/10/'
            f'servicebus/connect"><{channel}>{TOKEN}</{channel}>{more}</{kind}RegistrationDescription></content></entry>')
        return self.ask(method, rest, entry, Content_Type="application/atom+xml;type=entry;charset=utf-8", **headers)


@pytest.fixture
def client(path):
    made = Client(path)
    yield made
    left = ElementTree.fromstring(made.ask("GET", "registrations").content)
    for title in left.findall(f"{ATOM}entry/{ATOM}title"):
        made.ask("DELETE", f"registrations/{title.text}", If_Match="*")


def shape(entry):
    """The names of an entry's children, and of its description's; the description's values by name."""
    (description,) = entry.find(f"{ATOM}content")
    return (
        [child.tag.removeprefix(ATOM) for child in entry], description.tag.removeprefix(CONNECT),
        [child.tag.removeprefix(CONNECT) for child in description],
        {child.tag.removeprefix(CONNECT): child.text for child in description})


def test_an_installation_from_put_to_404(client):
    name = str(uuid.uuid4())
    # The SDK writes what is not set as null.
    document = {
        "installationId": name, "userId": None, "pushChannel": TOKEN, "platform": "apns", "expirationTime": None,
        "tags": None, "pushVariables": None, "templates": None}
    put = client.ask(
        "PUT", f"installations/{name}", json.dumps(document), Content_Type="application/json; charset=utf-8")
    assert (put.status_code, put.content) == (200, b"")
    got = client.ask("GET", f"installations/{name}")
    assert got.status_code == 200
    told = json.loads(got.content)
    assert {"installationId", "pushChannel", "pushChannelExpired", "platform", "expirationTime"} <= set(told)
    assert (told["pushChannelExpired"], told["expirationTime"]) == (False, NEVER)
    assert "tags" not in told and "templates" not in told and "userId" not in told
    patch = client.ask(
        "PATCH", f"installations/{name}", '[{"op":"add","path":"/tags","value":"tag1"}]',
        Content_Type="application/json-patch+json")
    assert (patch.status_code, patch.content) == (200, b"")
    assert client.ask("GET", f"installations/{name}").json()["tags"] == ["tag1"]
    document |= {"platform": "wns", "pushChannel": "https://some.url/", "templates": {"Template Name": {
        "body": '{"aps":{"alert":"alert!"}}', "headers": {"X-WNS-Type": "wns/toast"}, "expiry": None, "tags": None}}}
    assert client.ask("PUT", f"installations/{name}", json.dumps(document)).status_code == 200
    (template,) = client.ask("GET", f"installations/{name}").json()["templates"].items()
    assert template == ("Template Name", {
        "body": '{"aps":{"alert":"alert!"}}', "headers": {"X-WNS-Type": "wns/toast"}, "tags": ["Template Name"]})
    gone = client.ask("DELETE", f"installations/{name}")
    assert (gone.status_code, gone.content) == (204, b"")
    missing = client.ask("GET", f"installations/{name}")
    assert (missing.status_code, missing.headers["Content-Type"]) == (404, "application/xml; charset=utf-8")
    error = ElementTree.fromstring(missing.content)
    assert [error.tag, *(child.tag for child in error)] == ["Error", "Code", "Detail"]
    assert error.find("Code").text == "404"
    assert re.search(rf"{name}.*TrackingId:", error.find("Detail").text)


@pytest.mark.parametrize("kind, more, elements", [
    ("Apple", "", ["DeviceToken"]),
    ("FcmV1", "", ["FcmV1RegistrationId"]),
    ("Gcm", "", ["GcmRegistrationId"]),
    ("Windows", "", ["ChannelUri"]),
    ("Windows", "<SecondaryTileName>Tile name</SecondaryTileName>", ["ChannelUri", "SecondaryTileName"]),
    ("Mpns", "", ["ChannelUri"]),
    ("Adm", "", ["AdmRegistrationId"]),
    ("Baidu", "<BaiduChannelId>channelId</BaiduChannelId>", ["BaiduUserId", "BaiduChannelId"]),
    ("Browser", "<P256DH>BA</P256DH><Auth>YQ</Auth>", ["Endpoint", "P256DH", "Auth"]),
    ("Apple", '<Tags>tag1</Tags><PushVariables>{"var1":"value1"}</PushVariables>', ["Tags", "PushVariables", "DeviceToken"]),
    ("GcmTemplate", TEMPLATE, ["GcmRegistrationId", "BodyTemplate", "TemplateName"]),
    ("FcmV1Template", TEMPLATE, ["FcmV1RegistrationId", "BodyTemplate", "TemplateName"]),
    ("AdmTemplate", TEMPLATE, ["AdmRegistrationId", "BodyTemplate", "TemplateName"]),
    ("BaiduTemplate", "<BaiduChannelId>channelId</BaiduChannelId>" + TEMPLATE,
     ["BaiduUserId", "BaiduChannelId", "BodyTemplate", "TemplateName"]),
    ("BrowserTemplate", "<P256DH>BA</P256DH><Auth>YQ</Auth>" + TEMPLATE,
     ["Endpoint", "P256DH", "Auth", "BodyTemplate", "TemplateName"]),
    ("Apple", "<Tags>tag1</Tags>", ["Tags", "DeviceToken"]),
    ("AppleTemplate", "<BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"alert!\"}}]]></BodyTemplate>"
     "<Expiry i:nil=\"true\"/><TemplateName>Template Name</TemplateName><ApnsHeaders/>",
     ["DeviceToken", "BodyTemplate", "TemplateName", "ApnsHeaders"]),
    ("WindowsTemplate", "<SecondaryTileName>Tile name</SecondaryTileName><BodyTemplate><![CDATA[<toast><visual><text id=\"1\">"
     "$(text)</text></visual></toast>]]></BodyTemplate><WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast"
     "</Value></WnsHeader></WnsHeaders><TemplateName>Template Name</TemplateName>",
     ["ChannelUri", "SecondaryTileName", "BodyTemplate", "WnsHeaders", "TemplateName"]),
    ("MpnsTemplate", "<BodyTemplate><![CDATA[<wp:Notification xmlns:wp=\"WPNotification\"><wp:Tile><wp:Title>$(text)</wp:Title>"
     "</wp:Tile></wp:Notification>]]></BodyTemplate><MpnsHeaders><MpnsHeader><Header>X-NotificationClass</Header><Value>1"
     "</Value></MpnsHeader></MpnsHeaders><TemplateName>Template Name</TemplateName>",
     ["ChannelUri", "BodyTemplate", "MpnsHeaders", "TemplateName"]),
])
def test_a_new_registration_has_the_recorded_shape(client, kind, more, elements):
    made = client.register(kind, more)
    assert made.status_code == 200
    assert made.headers["ETag"] == 'W/"1"'
    assert made.headers["Content-Type"] == "application/atom+xml; type=entry; charset=utf-8"
    entry = ElementTree.fromstring(made.content)
    children, description, inner, values = shape(entry)
    assert children == ["id", "title", "published", "updated", "link", "content"]
    assert entry.attrib[ETAG] == 'W/"1"'
    assert description == f"{kind}RegistrationDescription"
    assert inner == ["ETag", "ExpirationTime", "RegistrationId", *elements]
    assert values["ExpirationTime"].startswith("9999-12-31T23:59:59.999")
    place = made.headers["Content-Location"].partition("?")[0]
    assert place == f"{client.root}/registrations/{values['RegistrationId']}"
    assert entry.find(f"{ATOM}title").text == values["RegistrationId"]


def test_a_registration_is_changed_read_and_deleted(client):
    made = client.register(method="PUT", rest="registrations/123-234-1")
    assert (made.status_code, made.headers["ETag"]) == (200, 'W/"1"')
    changed = client.register("Apple", "<Tags>tag1</Tags>", "PUT", "registrations/123-234-1", If_Match='"1"')
    assert (changed.status_code, changed.headers["ETag"]) == (200, 'W/"2"')
    got = client.ask("GET", "registrations/123-234-1")
    assert shape(ElementTree.fromstring(got.content))[3]["Tags"] == "tag1"
    gone = client.ask("DELETE", "registrations/123-234-1", If_Match="*")
    assert (gone.status_code, gone.headers["Content-Length"]) == (200, "0")
    assert client.ask("GET", "registrations/123-234-1").status_code == 404


def test_pages_of_registrations_are_walked_by_the_token_in_the_header(client):
    made = {shape(ElementTree.fromstring(client.register().content))[3]["RegistrationId"] for _ in range(3)}
    first = client.ask("GET", "registrations", query="&$top=2")
    assert first.headers["Content-Type"] == "application/atom+xml; type=feed; charset=utf-8"
    feed = ElementTree.fromstring(first.content)
    assert [child.tag for child in feed][:4] == [f"{ATOM}{name}" for name in ("title", "id", "updated", "link")]
    token = first.headers["x-ms-continuationtoken"]
    rest = client.ask("GET", "registrations", query=f"&$top=2&continuationtoken={token}")
    assert "x-ms-continuationtoken" not in rest.headers
    pages = [feed, ElementTree.fromstring(rest.content)]
    assert [len(page.findall(f"{ATOM}entry")) for page in pages] == [2, 1]
    assert {title.text for page in pages for title in page.findall(f"{ATOM}entry/{ATOM}title")} == made


@pytest.mark.parametrize("rest, query, headers, place", [
    ("messages", "", {}, r"messages/[^/?]+"),
    ("messages", "&direct", {"ServiceBusNotification-DeviceHandle": TOKEN}, r"messages/[^/?]+"),
    ("schedulednotifications", "", {"ServiceBusNotification-ScheduleTime": "2030-01-01T00:00:00"},
     r"schedulednotifications/[^/?]+"),
])
def test_a_send_is_answered_with_its_address(client, rest, query, headers, place):
    sent = client.ask(
        "POST", rest, '{"aps":{"alert":"alert!"}}', query, **headers | {
            "ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "" if query else "nobody",
            "Content-Type": "application/json;charset=utf-8"})
    assert sent.status_code == 201
    assert re.fullmatch(rf"{re.escape(client.root)}/{place}(\?.*)?", sent.headers["Location"])
    if rest == "schedulednotifications":
        scheduled = sent.headers["Location"].removeprefix(client.root + "/").partition("?")[0]
        assert client.ask("DELETE", scheduled).status_code == 200


def test_a_batch_of_devices_is_answered_with_its_address(client):
    boundary = "nh-batch-multipart-boundary"
    part = '--{0}\r\nContent-Type: {1}\r\nContent-Disposition: inline; name={2}\r\n\r\n{3}\r\n'
    body = (
        part.format(boundary, "application/json", "notification", '{"aps":{"alert":"alert!"}}')
        + part.format(boundary, "application/json", "devices", json.dumps([TOKEN])) + f"--{boundary}--\r\n")
    sent = client.ask("POST", "messages/$batch", body, "&direct", **{
        "Content-Type": f'multipart/mixed; boundary="{boundary}"', "ServiceBusNotification-Format": "apple"})
    assert sent.status_code == 201
    # Azure writes `messages/$batch/ID`, where another SDK of its own takes `$batch` for the id.
    assert re.fullmatch(rf"{re.escape(client.root)}/messages/[^/?$]+(\?.*)?", sent.headers["Location"])


def test_a_new_registrations_id_is_the_fourth_segment_of_its_address(client):
    made = client.ask("POST", "registrationids")
    assert made.status_code == 201
    kind, name = made.headers["Location"].partition("?")[0].removeprefix(client.root + "/").split("/")
    assert kind == "registrationids" and name


def headers(form, kind="application/json;charset=utf-8", **more):
    """The header fields of a send to nobody."""
    return {"ServiceBusNotification-Format": form, "ServiceBusNotification-Tags": "nobody", "Content-Type": kind} | more


FEED = "application/atom+xml; type=feed; charset=utf-8"
XML = "application/xml; charset=utf-8"
ERROR = ["Error", "Code", "Detail"]
STRANGER = {"Authorization": "SharedAccessSignature sr=http%3a%2f%2fh%2f&sig=AAAA&se=4102444800&skn=Nobody"}


@pytest.mark.parametrize("method, rest, query, sent, body, status, told, kind, names", [
    ("POST", "registrationids", "", {}, None, 201, ["Location"], None, []),
    ("POST", "messages", "", headers("apple"), '{"aps":{"alert":"alert!"}}', 201, ["Location"], None, None),
    ("POST", "messages", "", headers("gcm"), '{"data":{"message":"Message"}}', 201, ["Location"], None, None),
    ("POST", "messages", "", headers("fcmv1"), '{"message":{"data":{"k":"v"}}}', 201, ["Location"], None, None),
    ("POST", "messages", "", headers("adm"), '{"data":{"key1":"value1"}}', 201, ["Location"], None, None),
    ("POST", "messages", "", headers("baidu"), '{"title":"Title"}', 201, ["Location"], None, None),
    ("POST", "messages", "", headers("windows", "application/xml", **{"X-WNS-Type": "wns/toast"}), "<toast/>", 201,
     ["Location"], None, None),
    ("POST", "messages", "", headers("windowsphone", "application/xml", **{"X-WindowsPhone-Target": "toast"}), "<a/>", 201,
     ["Location"], None, None),
    ("POST", "messages", "", headers("template"), '{"prop1":"value1"}', 201, ["Location"], None, None),
    ("POST", "messages", "&test", headers("apple"), '{"aps":{}}', 201, ["Location"], XML,
     ["NotificationOutcome", "Success", "Failure", "Results"]),
    ("GET", "registrations", "&$top=100", {}, None, 200, [], FEED, ["feed", "title", "id", "updated", "link"]),
    ("GET", "tags/tag1/registrations", "&$top=100", {}, None, 200, [], FEED, ["feed", "title", "id", "updated", "link"]),
    ("GET", "registrations", "&$filter=ChannelUri+eq+'none'", {}, None, 200, [], FEED,
     ["feed", "title", "id", "updated", "link"]),
    ("GET", "registrations/1-2-3", "", {}, None, 404, [], XML, ERROR),
    ("DELETE", "registrations/1-2-3", "", {"If-Match": "*"}, None, 404, [], XML, ERROR),
    ("GET", "installations/none", "", {}, None, 404, [], XML, ERROR),
    ("GET", "messages/none", "", {}, None, 404, [], XML, ERROR),
    ("GET", "registrations", "", STRANGER, None, 401, [], XML, ERROR),
    ("POST", "messages", "", headers("apple", **STRANGER), "{}", 401, [], XML, ERROR),
])
def test_a_recorded_call_is_answered_in_the_recorded_shape(
        client, method, rest, query, sent, body, status, told, kind, names):
    answer = client.ask(method, rest, body, query, **sent)
    assert answer.status_code == status, answer.text
    for name in [*told, "TrackingId"]:
        assert name in answer.headers
    if kind:
        assert answer.headers["Content-Type"] == kind
    if names == []:
        assert answer.content == b""
    elif names:
        root = ElementTree.fromstring(answer.content)
        found = [element.tag.rpartition("}")[2] for element in [root, *root]]
        assert found[:len(names)] == names
        assert set(found[len(names):]) <= {"entry"}


def test_what_became_of_a_send_comes_in_the_order_in_which_the_sdk_reads_it(client):
    sent = client.ask("POST", "messages", "{}", **headers("apple"))
    details = ElementTree.fromstring(client.ask("GET", sent.headers["Location"].removeprefix(client.root + "/")).content)
    order = [
        "NotificationId", "Location", "State", "EnqueueTime", "StartTime", "EndTime", "NotificationBody", "Tags",
        "TargetPlatforms", "ApnsOutcomeCounts"]
    names = [child.tag.removeprefix(CONNECT) for child in details]
    assert details.tag == f"{CONNECT}NotificationDetails"
    assert names == [name for name in order if name in names] and {"NotificationId", "State", "Tags"} <= set(names)
