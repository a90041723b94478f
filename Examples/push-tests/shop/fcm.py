"""Sends to Android devices, and to topics."""

import functools
import time

import httpx
import jwt
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from shop.outcome import Outcome, seconds, with_retries

HOST = "https://fcm.googleapis.com"
TOPICS_HOST = "https://iid.googleapis.com"
SCOPE = "https://www.googleapis.com/auth/firebase.messaging"


class Fcm:
    """A sender with one service account."""

    def __init__(self, account, pause=time.sleep):
        self._account, self._pause = account, pause
        self._access = None
        self._client = httpx.Client(timeout=10)

    def close(self):
        self._client.close()

    def send(self, **message):
        """Sends one message, again if Google asks for that: `token`, `topic` or `condition`, and what is in it."""
        url = f"{HOST}/v1/projects/{self._account['project_id']}/messages:send"
        outcome = with_retries(lambda: self._post(url, {"message": message}), self._pause)
        if outcome.status == 401:
            self._access = None
            outcome = self._post(url, {"message": message})
        return outcome

    def subscribe(self, tokens, topic):
        """Subscribes tokens to a topic, and returns those that Google does not know."""
        answer = self._client.post(
            f"{TOPICS_HOST}/iid/v1:batchAdd", headers=self._authorization() | {"access_token_auth": "true"},
            json={"to": f"/topics/{topic}", "registration_tokens": tokens})
        answer.raise_for_status()
        return [token for token, result in zip(tokens, answer.json()["results"], strict=True) if result]

    def _post(self, url, document):
        try:
            answer = self._client.post(url, json=document, headers=self._authorization())
        except httpx.TransportError:
            return Outcome(0, "NoAnswer")
        return Outcome(answer.status_code, None if answer.is_success else _reason(answer.json()), seconds(answer.headers))

    def _authorization(self):
        if self._access is None:
            now = int(time.time())
            claims = {
                "iss": self._account["client_email"], "aud": self._account["token_uri"], "scope": SCOPE, "iat": now,
                "exp": now + 3600}
            assertion = jwt.encode(claims, _key(self._account["private_key"]), algorithm="RS256")
            answer = self._client.post(self._account["token_uri"], data={
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion})
            answer.raise_for_status()
            self._access = answer.json()["access_token"]
        return {"authorization": f"Bearer {self._access}"}


@functools.cache
def _key(text):
    """The key of an account, read once: reading checks it, which takes longer than to sign."""
    return load_pem_private_key(text.encode(), password=None)


def _reason(document):
    """FCM's own code, else the status."""
    error = document["error"]
    return next((each["errorCode"] for each in error.get("details", []) if "errorCode" in each), error["status"])
