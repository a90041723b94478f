"""What single notification servers do otherwise: each is tried on the server itself, and its screen is kept."""

import sys
import threading

import pytest

from aldaba_process import ARTEFACTS, REPOSITORY, clean_environment
from alone_agent import Alone
from pictures import JPEG_COLOUR, jpeg
from screen import Screen
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import OPEN  # noqa: E402

pytestmark = pytest.mark.desktop
DUNST, MATE, LXQT, XFCE = "dunst as it comes", "mate-notification-daemon", "lxqt-notificationd", "xfce4-notifyd"
PAPER = (0xEF, 0xEF, 0xEF)  # of a popup of lxqt-notificationd's, in Qt's own theme
SENTENCE = "This is a sentence of a body that goes on and on. "


class World:
    """An agent without a server, and a script that is an app, on the screen of one notification server."""

    def __init__(self, folder, screen, name, **manifest):
        self.screen, self.name = screen, name
        self.alone = Alone(folder, name=name, environment={
            key: screen.environment[key] for key in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS")})
        self.app = self.alone.app(**manifest)

    def show(self, identifier, **content):
        self.app.add(identifier, **content)
        self.app.wait_for_notification(20)

    def keep(self):
        self.screen.keep(ARTEFACTS / f"{self.name}.png")

    def paper(self):
        """The rectangle of lxqt-notificationd's popups; `None` while there is none."""
        return self.screen.look().box(PAPER)

    def stop(self):
        self.alone.stop()


@pytest.fixture
def screen(request):
    made = Screen(clean_environment(), server=request.param)
    yield made
    made.stop()


@pytest.fixture
def world(request, screen, tmp_path):
    mark = request.node.get_closest_marker("manifest")
    made = World(tmp_path, screen, request.node.name.split("[")[0], **(mark.kwargs if mark else {}))
    yield made
    made.stop()


@pytest.mark.manifest(authorization="ask")
@pytest.mark.parametrize("label, granted", [("Allow (", True), ("Don’t Allow", False)])
@pytest.mark.parametrize("screen", [DUNST], indirect=True)
def test_dunst_s_middle_click_answers_the_question_for_permission(screen, world, label, granted):
    answers = []
    asking = threading.Thread(target=lambda: answers.append(world.app.request_authorization()))
    asking.start()
    screen.will_choose(label)
    wait_until(lambda: screen.look().lit() > 500, "the question is on the screen")
    world.keep()
    screen.middle_click()
    asking.join(20)
    assert answers == [granted]


@pytest.mark.parametrize("screen", [MATE], indirect=True)
def test_mate_shows_what_stands_on_a_button(screen, world):
    world.show("shop", title="Shop", actions=[{"identifier": "both", "title": "Bread & <b>butter</b>"}])
    wait_until(lambda: screen.look().lit() > 5_000, "the popup is on the screen")
    world.keep()
    assert "Failed to set text" not in screen.server_log(), screen.server_log()


@pytest.mark.parametrize("screen", [MATE, LXQT], indirect=True)
def test_a_long_body_leaves_room_on_the_screen(screen, world):
    world.show("long", title="Long", body=SENTENCE * 40)
    wait_until(lambda: screen.look().lit() > 20_000, "the popup is on the screen")
    world.keep()
    assert screen.look().lit() < 220_000, "the popup fills the screen"


@pytest.mark.parametrize("screen", [LXQT], indirect=True)
def test_lxqt_shows_a_picture_and_no_button_that_nobody_asked_for(screen, world, tmp_path):
    picture = tmp_path / "bread.jpg"
    picture.write_bytes(jpeg())
    world.show("plain", title="Bread", body="Warm.", attachments=[
        {"identifier": "bread", "path": str(picture), "type": "public.jpeg"}])
    wait_until(lambda: sum(1 for _ in screen.look().places(JPEG_COLOUR)) > 300, "the picture is seen")
    world.keep()
    left, top, right, bottom = world.paper()
    assert bottom - top < 110, "there is no row of buttons"
    screen.click((left, top, left + 100, bottom))
    assert world.app.wait_for_response(20)["action"] == OPEN, "the click opens it all the same"
    world.show("shop", title="Shop", actions=[{"identifier": "both", "title": "Bread & butter"}])
    wait_until(lambda: (box := world.paper()) and box[3] - box[1] > 100, "the button is there")
    screen.keep(ARTEFACTS / "lxqt_button.png")
    assert "QDBusArgument" not in screen.server_log()


@pytest.mark.parametrize("screen", [XFCE], indirect=True)
def test_xfce_opens_by_its_button_alone(screen, world):
    """Which is why it keeps the button: a click on the body only closes its popup."""
    world.show("plain", title="Bread")
    screen.press_button(-1, 0)
    assert world.app.wait_for_response(20)["action"] == OPEN


def test_the_status_says_that_nothing_shows_notifications(tmp_path):
    screen = Screen(clean_environment(), server=None)
    try:
        world = World(tmp_path, screen, "no_server", authorization="ask")
        try:
            status = world.alone.aldaba("agent", "status").stdout
            assert "screen    none now: no notification server runs on the session bus" in status, status
            answer = world.app.ask({"type": "requestAuthorization", "options": 7}, "authorizationAnswered")
            assert not answer["granted"] and "no notification server runs" in answer["reason"], answer
            assert "aldaba settings com.example.script allowed=yes" in answer["reason"]
        finally:
            world.stop()
    finally:
        screen.stop()
