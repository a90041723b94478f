"""What sends to APNs and FCM for the vendors' rules, and a server that takes any credential and token."""

import json
import secrets
import ssl
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from own_server import OwnServer
from provider_tokens import ProviderKey

ACCEPT_ANY = (
    "--development=true", "--environment=sandbox", "--accept-any-credential=true", "--accept-any-token=true",
    "--http-port=0")
SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
HOUR = 3600


def open_server(folder, name):
    """A server that takes any team, key, project and token."""
    return OwnServer(folder, name, *ACCEPT_ANY)


@dataclass
class Push:
    """One request to APNs: what differs from a good one. Values may be functions of the sender."""

    headers: dict = field(default_factory=dict)
    extra: list = field(default_factory=list)
    path: str = "/3/device/TOKEN"
    body: bytes = b'{"aps":{"alert":"Hello"}}'
    method: str = "POST"


class Sender:
    """A provider with a key, or a certificate, a topic and a device token, by httpx."""

    def __init__(self, ready, key=None, topic=None, token=None, certificate=None):
        self.ready, self.certificate = ready, certificate
        self.key = key or ProviderKey(Path(ready["key"]).read_bytes(), ready["keyId"], ready["teamId"])
        self.topic, self.token = topic or ready["topic"], token or ready["deviceToken"]
        self.authorization = None if certificate else f"bearer {self.key.token()}"

    def connection(self):
        context = ssl.create_default_context(cafile=self.ready["ca"])
        if self.certificate:
            context.load_cert_chain(self.certificate)
        return httpx.Client(http2=True, verify=context, base_url=self.ready["apns"], timeout=15)

    def answer(self, push, connection=None):
        """The response to one request, on a connection of its own if none is given."""
        if connection is None:
            with self.connection() as connection:
                return self.answer(push, connection)
        headers = {"authorization": self.authorization, "apns-topic": self.topic, "apns-push-type": "alert"}
        headers |= {name: value(self) if callable(value) else value for name, value in push.headers.items()}
        pairs = [(name, value) for name, value in headers.items() if value is not None]
        extra = [(name, value(self) if callable(value) else value) for name, value in push.extra]
        path = push.path.replace("TOKEN", self.token)
        return connection.request(push.method, path, headers=pairs + extra, content=push.body)

    def send(self, case):
        """The answer as the page writes it: to one request, or to the last of several on one connection."""
        if callable(case):
            return case(self)
        with self.connection() as connection:
            for push in case if isinstance(case, list) else [case]:
                response = self.answer(push, connection)
        return told_by_apple(response)


def told_by_apple(response):
    """An answer of APNs as the page writes it: `200`, `400 BadTopic`."""
    assert response.http_version == "HTTP/2"
    return f"{response.status_code} {response.json()['reason']}" if response.content else str(response.status_code)


def new_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()


def new_account(project):
    """The file of a service account that the server has never seen."""
    return {
        "project_id": project, "private_key_id": secrets.token_hex(20), "private_key": new_key(),
        "client_email": f"sender@{project}.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token"}


@dataclass
class Client:
    """A sender with a service account."""

    base: str
    account: dict
    token: str
    access_token: str = ""

    def assertion(self, algorithm="RS256", key=None, **changes):
        now = int(time.time())
        claims = {
            "iss": self.account["client_email"], "scope": SCOPE, "aud": self.account["token_uri"], "iat": now,
            "exp": now + HOUR} | changes
        claims = {name: value for name, value in claims.items() if value is not None}
        key = key or (self.account["private_key"] if algorithm == "RS256" else "s" * 64)
        return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": self.account["private_key_id"]})

    def grant(self, **form):
        form = {"grant_type": GRANT_TYPE} | form
        return httpx.post(f"{self.base}/token", data={name: value for name, value in form.items() if value is not None})

    def signed_in(self):
        self.access_token = self.grant(assertion=self.assertion()).json()["access_token"]
        return self

    def post(self, body, project=None, authorization=None):
        authorization = f"Bearer {self.access_token}" if authorization is None else authorization
        return httpx.post(
            f"{self.base}/v1/projects/{project or self.account['project_id']}/messages:send",
            content=body if isinstance(body, str) else json.dumps(body),
            headers={"content-type": "application/json"} | ({"authorization": authorization} if authorization else {}))

    def send(self, request):
        """The response to a message, to a whole body in `Body`, or to what a function does."""
        if callable(request):
            return request(self)
        return self.post({"message": {"token": self.token} | request})


def told_by_google(response):
    """An answer as the page writes it: `200`, `400 INVALID_ARGUMENT`, `400 invalid_grant`."""
    answer = response.json()
    if response.status_code == 200:
        return "200"
    if isinstance(answer["error"], str):
        assert answer["error_description"]
        return f"{response.status_code} {answer['error']}"
    error = answer["error"]
    assert error["code"] == response.status_code and error["message"] and error["status"]
    codes = [each["errorCode"] for each in details(response, "google.firebase.fcm.v1.FcmError")]
    return f"{response.status_code} {(codes or [error['status']])[0]}"


def details(response, name):
    found = response.json()["error"].get("details", [])
    return [each for each in found if each["@type"] == f"type.googleapis.com/{name}"]


def named_field(response):
    [violations] = [each["fieldViolations"] for each in details(response, "google.rpc.BadRequest")]
    return violations[0]["field"]
