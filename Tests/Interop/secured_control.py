"""The control API over TLS, where a new device shows the enrolment key and who asks for timelines a provider token."""

import http.client

from control_client import ControlClient
from h2_client import verified_context


class SecuredControl(ControlClient):
    """A connection of its own for each request, so that none depends on what another left behind."""

    def __init__(self, url, ca, enrolment_key=None, provider_key=None):
        super().__init__(url)
        self._ca = ca
        self.enrolment_key = enrolment_key
        self.provider_key = provider_key

    def request(self, method, path, body=None, headers=None):
        headers = {name.lower(): value for name, value in (headers or {}).items()}
        if path == "/checkin" and self.enrolment_key is not None:
            headers.setdefault("authorization", f"Enrol {self.enrolment_key}")
        elif path.startswith("/v1/") and self.provider_key is not None:
            headers.setdefault("authorization", f"bearer {self.provider_key.token()}")
        connection = http.client.HTTPSConnection(*self._address, timeout=10, context=verified_context(self._ca))
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()
