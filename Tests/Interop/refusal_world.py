"""What refusals are tried with: tokens and keys that are right somewhere, but not here."""

import json
import time
from dataclasses import dataclass, field

from aldaba_process import run_aldaba
from provider import Provider
from provider_tokens import ProviderKey

OTHER_TOPIC, FOREIGN_TOPIC, FOREIGN_TEAM = "com.example.other", "com.elsewhere.app", "ELSEWHERE1"


@dataclass
class Request:
    """A good request, for a case to spoil in one place."""

    method: str
    path: str
    headers: dict
    body: bytes = b'{"aps":{"alert":"good but for one thing"}}'
    extra: list = field(default_factory=list)

    def header_list(self):
        return [(name, str(value)) for name, value in self.headers.items() if value is not None] + self.extra


class World:
    """Devices, apps and keys beside the demo app's, made through the public doors only."""

    def __init__(self, ready, control):
        data, self.team, self.topic = ready["data"], ready["teamId"], ready["topic"]
        self.good_token = ready["deviceToken"]
        self.provider = Provider(ready)
        self.key = self.provider.key
        self.stranger = ProviderKey.made_now(self.key.key_id, self.team)
        run_aldaba("app", "create", OTHER_TOPIC, "--team", self.team, "--data", data)
        run_aldaba("app", "create", FOREIGN_TOPIC, "--team", FOREIGN_TEAM, "--data", data)
        created = json.loads(run_aldaba("key", "create", "--team", FOREIGN_TEAM, "--data", data, "--json").stdout)
        with open(created["path"], "rb") as file:
            self.foreign_key = ProviderKey(file.read(), created["keyId"], FOREIGN_TEAM)

        device = control.enrol()
        self.production_token = control.token(device, self.topic, self.team, "production")
        self.other_app_token = control.token(device, OTHER_TOPIC, self.team)
        self.foreign_token = control.token(device, FOREIGN_TOPIC, FOREIGN_TEAM)
        self.old_token = control.token(device, self.topic, self.team)
        self.unregistered_after = int(time.time() * 1000) - 1
        control.register(device, self.topic, self.team, delete=True)
        self.unregistered_before = int(time.time() * 1000) + 1
        self.new_token = control.token(device, self.topic, self.team)

    def request(self):
        """A request that would be accepted."""
        return Request("POST", f"/3/device/{self.good_token}", dict(self.provider.headers()))

    def bearer(self, token):
        return f"bearer {token}"

    def close(self):
        self.provider.close()
