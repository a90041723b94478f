"""GNOME's own shell shows what the agent presents, the picture of a rich push among it."""

import pytest

from aldaba_process import ARTEFACTS, clean_environment
from gnome import Gnome
from pictures import JPEG_COLOUR
from test_rich_push import SERVICE, RichWorld
from test_service_extension import pictures  # noqa: F401
from waiting import TimedOut, wait_until


@pytest.fixture(scope="module")
def gnome():
    desktop = Gnome(clean_environment())
    yield desktop
    desktop.stop()


@pytest.mark.desktop
def test_the_picture_of_a_push_is_on_gnomes_screen(up, control, gnome, pictures):  # noqa: F811
    world = RichWorld(up, control, gnome, pictures, "127.0.0.0/8", SERVICE)
    try:
        assert gnome.banner_pixels(JPEG_COLOUR) == 0
        # A banner of the shell's own may come after this, and a push's waits behind it: then both are begun anew.
        for left in reversed(range(4)):
            gnome.dismiss()
            reference = world.push_members("Bread", **{"attachment-url": pictures.url("bread.jpg")})
            assert world.extended(reference)[0] == "changed"
            control.wait_for_last_state(reference, "presented")
            try:
                wait_until(lambda: gnome.banner_pixels(JPEG_COLOUR) > 300, "the picture is seen", 10)
                return
            except TimedOut:
                gnome.keep(ARTEFACTS / "gnome.png")
                if not left:
                    raise
    finally:
        world.stop()
