"""A provider as a test sees it: sends to device tokens with the key that `aldaba up` printed."""

import json
from pathlib import Path

from h2_client import ConnectionEnded, H2Client
from provider_tokens import ProviderKey


class Provider:
    """Sends over one connection, opened at first use and again when it has ended."""

    def __init__(self, ready, key=None, topic=None):
        self._address, self._ca = ready["apns"], ready["ca"]
        self.topic = topic or ready["topic"]
        self.key = key or ProviderKey(Path(ready["key"]).read_bytes(), ready["keyId"], ready["teamId"])
        self._bearer = f"bearer {self.key.token()}"
        self._client = None

    def headers(self, **changes):
        """The usual headers as a list of pairs; `apns_id="x"` sets `apns-id`, `None` leaves one out."""
        headers = {"authorization": self._bearer, "apns-topic": self.topic, "apns-push-type": "alert"}
        headers |= {name.replace("_", "-"): value for name, value in changes.items()}
        return [(name, str(value)) for name, value in headers.items() if value is not None]

    def post(self, token, payload, **headers):
        """Sends a notification (an object, or bytes sent verbatim) and returns the Answer."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.request("POST", f"/3/device/{token}", self.headers(**headers), body)

    def request(self, method, path, headers, body):
        """One request; a kept connection that the server has ended meanwhile is replaced once."""
        reused = self._client is not None
        try:
            return self._connected().request(method, path, headers, body)
        except ConnectionEnded:
            self.close()
            if not reused:
                raise
            return self._connected().request(method, path, headers, body)

    def close(self):
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connected(self):
        if self._client is None:
            self._client = H2Client(self._address, self._ca)
        return self._client
