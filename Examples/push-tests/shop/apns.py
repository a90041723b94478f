"""Sends to Apple devices."""

import json
import time

import httpx
import jwt

from shop.outcome import Outcome, seconds, with_retries

HOST = "https://api.push.apple.com"
TOKEN_SECONDS = 50 * 60  # Apple takes a provider token for an hour.


class Apns:
    """A sender with one provider key."""

    def __init__(self, team, key_id, key, topic, pause=time.sleep):
        self._team, self._key_id, self._key = team, key_id, key
        self.topic, self._pause = topic, pause
        self._token, self._made = None, 0.0
        self._client = httpx.Client(http2=True, base_url=HOST, timeout=10)

    def close(self):
        self._client.close()

    def send(self, token, payload, *, push_type="alert", priority=10, collapse=None, expiration=None):
        """Sends one notification, again if Apple asks for that."""
        headers = {
            "apns-topic": self.topic, "apns-push-type": push_type, "apns-priority": str(priority),
            "apns-collapse-id": collapse, "apns-expiration": None if expiration is None else str(expiration)}
        given = {name: value for name, value in headers.items() if value is not None}
        outcome = with_retries(lambda: self._post(token, payload, given), self._pause)
        if outcome.reason == "ExpiredProviderToken":
            self._token = None
            outcome = self._post(token, payload, given)
        return outcome

    def _post(self, token, payload, headers):
        headers = headers | {"authorization": f"bearer {self._bearer()}"}
        try:
            answer = self._client.post(f"/3/device/{token}", content=json.dumps(payload), headers=headers)
        except httpx.TransportError:
            return Outcome(0, "NoAnswer")
        reason = answer.json()["reason"] if answer.content else None
        return Outcome(answer.status_code, reason, seconds(answer.headers))

    def _bearer(self):
        if self._token is None or time.monotonic() - self._made > TOKEN_SECONDS:
            claims = {"iss": self._team, "iat": int(time.time())}
            self._token = jwt.encode(claims, self._key, algorithm="ES256", headers={"kid": self._key_id})
            self._made = time.monotonic()
        return self._token
