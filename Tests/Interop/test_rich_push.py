"""Rich push, ready made: an extension of one line, whose pictures the agent fetches, and shows or says why not."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from aldaba_process import BINARY
from pictures import JPEG_COLOUR, SOUNDS_AND_FILMS, jpeg
from test_service_extension import APP, TEAM, World, pictures, screen  # noqa: F401
from waiting import wait_until

SERVICE = {"id": f"{APP}.Service", "version": "1.0", "executable": str(BINARY.parent / "PictureService")}


class RichWorld(World):
    """An app that allows http, whose extension is the ready-made one; `networks` are what its agent may fetch from."""

    def __init__(self, up, control, screen, pictures, networks, service):  # noqa: F811
        self.service = service
        allowed = {"ALDABA_MEDIA_NETWORKS": networks} if networks else {}
        super().__init__(up, control, SimpleNamespace(environment=screen.environment | allowed), pictures)

    def install(self, extension=None):
        self.secret = self.agent.install(
            id=APP, name="Rich", team=TEAM, executable=sys.executable, provesBySecret=True, authorization="granted",
            allowsHTTP=True, serviceExtension=extension or self.service)

    def push_members(self, title, **members):
        payload = {"aps": {"alert": {"title": title, "body": "Look."}, "mutable-content": 1}, **members}
        answer = self.provider.post(self.token, payload)
        assert (answer.status, answer.reason) == (200, None)
        return answer.apns_id


@pytest.fixture
def networks():
    return "127.0.0.0/8"


@pytest.fixture
def service():
    return SERVICE


@pytest.fixture
def world(up, control, screen, pictures, networks, service):  # noqa: F811
    made = RichWorld(up, control, screen, pictures, networks, service)
    yield made
    made.stop()


@pytest.mark.desktop
def test_pictures_are_shown_by_whatever_key_a_payload_names_them(world, screen, pictures):  # noqa: F811
    picture = pictures.url("bread.jpg")
    keys = {
        "Braze": {"ab": {"att": {"url": picture, "type": "png"}}},
        "Firebase": {"fcm_options": {"image": picture}},
        "OneSignal": {"att": {"loaf": picture}},
        "Plain": {"attachment-url": picture, "aldaba": {"fetch-spread": 0.2}},
    }
    for title, members in keys.items():
        outcome, _, note = world.extended(world.push_members(title, **members))
        assert (title, outcome, note) == (title, "changed", "version 1.0")
        (item,) = world.listed(title)
        (attachment,) = item["content"]["attachments"]
        # Its bytes say what it is, whatever the sender says.
        assert attachment["type"] == "public.jpeg"
        assert Path(attachment["path"]).read_bytes() == jpeg()
    wait_until(lambda: len(list(screen.look().places(JPEG_COLOUR))) > 500, "a picture is seen")
    # What was handed out and attached is not left behind.
    wait_until(lambda: not list((world.agent.data / "media/handed").rglob("*.jpg")), "the copies are gone")


@pytest.mark.desktop
def test_sounds_and_films_are_attached_whole(world, pictures):  # noqa: F811
    for name, (content, kind) in SOUNDS_AND_FILMS.items():
        outcome, _, note = world.extended(world.push_members(name, **{"attachment-url": pictures.url(name)}))
        assert (name, outcome, note) == (name, "changed", "version 1.0")
        (item,) = world.listed(name)
        (attachment,) = item["content"]["attachments"]
        assert (name, attachment["type"]) == (name, kind)
        assert Path(attachment["path"]).suffix == Path(name).suffix
        assert Path(attachment["path"]).read_bytes() == content


@pytest.mark.desktop
@pytest.mark.parametrize("name, reason", [("page.jpg", "notMedia"), ("large.jpg", "tooLarge")])
def test_what_cannot_be_shown_leaves_the_text_and_its_reason(world, pictures, name, reason):  # noqa: F811
    reference = world.push_members(name, **{"attachment-url": pictures.url(name)})
    outcome, _, note = world.extended(reference)
    assert outcome == "unchanged"
    assert note.startswith(f"{reason}: ") and pictures.url("")[:-1] in note
    (item,) = world.listed(name)
    assert not item["content"].get("attachments")


@pytest.mark.desktop
@pytest.mark.parametrize("networks", [None])
def test_this_machine_is_not_asked_unless_somebody_allows_it(world, pictures):  # noqa: F811
    _, _, note = world.extended(world.push_members("Inside", **{"attachment-url": pictures.url("bread.jpg")}))
    assert note.startswith("refusedAddress: 127.0.0.1 is 127.0.0.1, an address of this machine")
    assert pictures.asked == []
