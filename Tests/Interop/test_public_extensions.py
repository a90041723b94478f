"""Service extensions that others wrote for iOS and published: compiled as they are, and run against a host on loopback.

Their texts are not kept here. They are taken from the folder that `ALDABA_PUBLIC_CODE` names (one file each, by the names
below), else fetched from where their authors have them; without either the test is skipped and says so. One of our own
is built and run the same way everywhere.
"""

import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from aldaba_process import BINARY, REPOSITORY
from pictures import jpeg
from test_rich_push import networks, world  # noqa: F401
from test_service_extension import APP, pictures, screen  # noqa: F401
from waiting import wait_until

PUBLIC = "https://raw.githubusercontent.com"
# Where each is, and how its sender names a picture: the program never comes through the agent's fetching.
EXTENSIONS = {
    "HelloSwift": (
        "Appboy/appboy-ios-sdk/6d42abf665cd3e2bfeccd7ef25fea74657ff3bbd/"
        "HelloSwift/HelloSwiftNotificationExtension/NotificationService.swift",
        lambda url: {"ab": {"att": {"url": url, "type": "jpg"}}}),
    "MyKTGG": (
        "AlexTrushkovsky/MyKTGG-iOS/a719bbd454287a17c41c0228907676ea9b3748ac/"
        "NotificationService/NotificationService.swift",
        lambda url: {"image_url": url}),
    "iOS10NotificationDemo": (
        "palash89/iOS10NotificationDemo/409ccc58cc1e956d1f3eda6b747dd4cc50af85ba/"
        "Service Extension/NotificationService.swift",
        lambda url: {"data": {"attachment-url": url}}),
}
OWN = {"TodoService": (REPOSITORY / "Examples/TodoService/NotificationService.swift", EXTENSIONS["HelloSwift"][1])}
# What apps import, and what that needs.
MODULES = ["AgentProtocol", "AppHost", "CoreLocation", "MobileCoreServices", "Platform", "Scheduling", "CoreValues", "UIKit",
           "UserNotifications"]


def text(name):
    if name in OWN:
        return OWN[name][0].read_text()
    folder = os.environ.get("ALDABA_PUBLIC_CODE")
    if folder:
        return (Path(folder) / f"{name}.swift").read_text()
    place = f"{PUBLIC}/{urllib.parse.quote(EXTENSIONS[name][0])}"
    try:
        with urllib.request.urlopen(place, timeout=10) as answer:
            return answer.read(1 << 20).decode()
    except (OSError, urllib.error.URLError) as error:
        pytest.skip(f"{name} cannot be fetched from where it is public ({error}); ALDABA_PUBLIC_CODE names a folder with it")


def program(name, folder):
    """Compiles an extension beside a main function, which Xcode's build adds by itself."""
    source, main = folder / "NotificationService.swift", folder / "main.swift"
    source.write_text(text(name))
    main.write_text("import UserNotifications\nNotificationService.main()\n")
    build = BINARY.parent
    # The build folder keeps the objects of files that are gone.
    objects = [str(file) for module in MODULES for source_file in sorted(REPOSITORY.glob(f"Sources/*/{module}/**/*.swift"))
               for file in [build / f"{module}.build/{source_file.name}.o"] if file.exists()]
    assert objects, f"{build} has no objects to link"
    made = folder / name
    run = subprocess.run(
        ["swiftc", "-swift-version", "5", "-module-name", name, "-I", str(build / "Modules"), "-Xcc",
         f"-fmodule-map-file={REPOSITORY}/Sources/System/CLinux/module.modulemap", str(source), str(main),
         *objects, "-o", str(made)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stdout
    return made


@pytest.fixture(params=EXTENSIONS | OWN)
def name(request):
    return request.param


@pytest.fixture
def service(name, tmp_path):
    return {"id": f"{APP}.Service", "version": "1.0", "executable": str(program(name, tmp_path)),
            "environment": {"HOME": str(tmp_path)}}


@pytest.mark.desktop
def test_it_runs_unchanged_and_shows_its_picture(name, world, pictures):  # noqa: F811
    reference = world.push_members(name, **(EXTENSIONS | OWN)[name][1](pictures.url("bread.jpg")))
    outcome, _, note = world.extended(reference)
    assert (outcome, note) == ("changed", "version 1.0")
    (item,) = wait_until(lambda: world.listed(name), "it is shown")
    (attachment,) = item["content"]["attachments"]
    assert Path(attachment["path"]).read_bytes() == jpeg()


@pytest.mark.desktop
def test_its_text_is_shown_whatever_the_host_sends(name, world, pictures):  # noqa: F811
    reference = world.push_members(name, **(EXTENSIONS | OWN)[name][1](pictures.url("page.jpg")))
    outcome, _, note = world.extended(reference)
    # They attach whatever came; the agent looks at the bytes.
    assert (outcome, "holds no picture" in note) == ("attachmentRefused", True)
    (item,) = wait_until(lambda: world.listed(name), "it is shown")
    assert not item["content"].get("attachments")
