"""What the programs of the peers share: they read pushes as lines of JSON, and print an outcome of each."""

import json
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The provider's credentials. `host`, `port` and `authority` are those of another server than the library's own."""

    key: str
    key_id: str
    team: str
    certificate: str = ""
    host: str = ""
    port: int = 0
    authority: str = ""

    @property
    def address(self):
        return f"https://{self.host}:{self.port}"


@dataclass(frozen=True)
class Push:
    """One notification; without a title it is a silent one."""

    token: str
    topic: str
    title: str = ""
    collapse: str | None = None
    expiration: int | None = None
    padding: str = ""


def outcome(done):
    """`200` with the notification's id, or the name of the error that the library raised."""
    try:
        return {"result": "200", "id": done()}
    except Exception as error:  # Each library has errors of its own.
        return failure(error)


def failure(error):
    return {"result": type(error).__name__, "id": None}


def run(each, many):
    """`each` sends pushes in turn, `many` as the library's users send many of them; both return outcomes."""
    settings = Settings(**json.loads(sys.argv[2]))
    pushes = [Push(**json.loads(line)) for line in sys.stdin]
    for told in {"each": each, "many": many}[sys.argv[1]](settings, pushes):
        print(json.dumps(told))
