"""What moves is shown as a still on a desktop that shows stills only, after its text."""

import struct
import sys
from pathlib import Path

import pytest

from aldaba_process import ARTEFACTS, AldabaUp, clean_environment
from screen import Screen
from waiting import wait_until
from test_center import Run

RED, GREEN = (0xE0, 0x10, 0x10), (0x10, 0xE0, 0x10)
SIDE = 64


def gif(*colours):
    """An animation with one frame a colour (GIF89a: header, one global table, per frame a control and an image)."""
    table = b"".join(bytes(colour) for colour in colours) + bytes(3) * (4 - len(colours))
    frames = b""
    for number in range(len(colours)):
        # Codes of three bits: clear (4) before each pixel, so that the table never grows; end (5) at the last.
        bits, pixels = "", [number] * (SIDE * SIDE)
        for pixel in pixels:
            bits = f"{pixel:03b}" + "100" + bits
        bits = "101" + bits
        data = int(bits, 2).to_bytes((len(bits) + 7) // 8, "little")
        blocks = b"".join(
            bytes([len(data[at:at + 255])]) + data[at:at + 255] for at in range(0, len(data), 255)) + b"\0"
        control = b"\x21\xf9\x04\x00\x32\x00\x00\x00"
        frames += control + b"\x2c" + struct.pack("<4HB", 0, 0, SIDE, SIDE, 0) + b"\x02" + blocks
    return b"GIF89a" + struct.pack("<HHBBB", SIDE, SIDE, 0x91, 0, 0) + table + frames + b"\x3b"


@pytest.fixture
def screen():
    made = Screen(clean_environment())
    yield made
    made.stop()


@pytest.fixture
def run(request, screen, tmp_path):
    """An agent whose user has a thumbnailer for movies: one that always makes the same green picture."""
    folder = tmp_path / "thumbnailers"
    folder.mkdir()
    maker = tmp_path / "make-picture"
    maker.write_text(f"""#!{sys.executable}
import struct, sys, zlib
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open(sys.argv[2], "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", {SIDE}, {SIDE}, 8, 2, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress((b"\\0" + bytes({GREEN}) * {SIDE}) * {SIDE})) + chunk(b"IEND", b""))
""")
    maker.chmod(0o700)
    (folder / "test.thumbnailer").write_text(f"[Thumbnailer Entry]\nExec={maker} %i %o\nMimeType=video/mp4;\n")
    up = AldabaUp.ephemeral(name=request.node.name, environment=screen.environment | {"XDG_DATA_HOME": str(tmp_path)})
    yield Run(up, "granted")
    up.stop()


def attach(run, path, type_):
    with run.agent() as agent:
        agent.add("film", title="The film", body="See for yourself.", attachments=[
            {"identifier": "a", "path": str(path), "type": type_}])
        agent.wait_for_notification(20)


@pytest.mark.desktop
def test_an_animation_is_shown_by_its_first_picture(screen, run, tmp_path):
    animation = tmp_path / "film.gif"
    animation.write_bytes(gif(RED, GREEN))
    attach(run, animation, "com.compuserve.gif")
    wait_until(lambda: len(list(screen.look().places(RED))) > 500, "the first picture is seen")
    screen.keep(ARTEFACTS / "animation.png")
    assert list(screen.look().places(GREEN)) == []
    kept = Path(run.listed()[0]["content"]["attachments"][0]["path"])
    wait_until(lambda: Path(f"{kept}.still.png").exists(), "a still was made")
    assert Path(f"{kept}.still.png").stat().st_mode & 0o777 == 0o600
    assert not animation.exists(), "the file has been taken"


@pytest.mark.desktop
def test_a_movie_is_shown_by_the_still_of_the_desktop_s_thumbnailer(screen, run, tmp_path):
    movie = tmp_path / "film.mp4"
    movie.write_bytes(b"\0\0\0\x18ftypisom" + bytes(100))
    attach(run, movie, "public.mpeg-4")
    screen.wait_for_popup()
    wait_until(lambda: len(list(screen.look().places(GREEN))) > 500, "the still is seen")
    screen.keep(ARTEFACTS / "movie.png")
