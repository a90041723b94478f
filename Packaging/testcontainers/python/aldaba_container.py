"""A server for tests in a container: APNs and FCM, which accept any key, service account, app and token."""

import json
import urllib.error
import urllib.parse
import urllib.request

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import LogMessageWaitStrategy

SHARED_PORT, APNS_PORT, HTTP_PORT = 443, 2197, 8080


class AldabaContainer(DockerContainer):
    """`with AldabaContainer() as aldaba:` starts a container and ends it."""

    def __init__(self, image="aldaba-tests", **options):
        super().__init__(image, **options)
        self.with_exposed_ports(SHARED_PORT, APNS_PORT, HTTP_PORT)
        # The line of the addresses, after which everything listens.
        self.waiting_for(LogMessageWaitStrategy('"apnsPort"'))

    @property
    def http(self):
        """The address of the test API."""
        return f"http://{self._address(HTTP_PORT)}"

    @property
    def apns(self):
        """The address of APNs."""
        return f"https://{self._address(APNS_PORT)}"

    @property
    def fcm(self):
        """The address of FCM; access tokens are at `/token` of it."""
        return f"https://{self._address(SHARED_PORT)}"

    @property
    def ca(self):
        """The certificate that the program under test must trust, as PEM."""
        result = self.exec(["cat", "/trust/ca.pem"])
        if result.exit_code != 0:
            raise RuntimeError(f"the container has no certificate: {result.output!r}")
        return result.output.decode()

    def received(self, **query):
        """The requests that came, the newest first; `count=2, timeout=10` waits until two have come, or ten seconds."""
        return self._ask("GET", "/v1/received?" + urllib.parse.urlencode(query, doseq=True))["received"]

    def fault(self, **members):
        """Provokes an error: `fault(status=429, token="740f…", times=2)`. The answer has its `id`."""
        return self._ask("POST", "/v1/faults", members)

    def reset(self, **query):
        """Forgets requests and faults; `namespace` names whose."""
        return self._ask("POST", "/v1/reset?" + urllib.parse.urlencode(query))

    def _address(self, port):
        return f"{self.get_container_host_ip()}:{self.get_exposed_port(port)}"

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(
            self.http + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code} {error.read().decode()}") from None
