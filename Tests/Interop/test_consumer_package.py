"""A package that imports the device's modules, and asks for no programs, fetches no other package."""

import json
import subprocess
from pathlib import Path

from aldaba_process import clean_environment

ROOT = Path(__file__).parents[2]


def dependencies(package, scratch):
    told = subprocess.run(
        ["swift", "package", "--package-path", package, "--scratch-path", scratch, "show-dependencies", "--format", "json"],
        capture_output=True, text=True, timeout=120, env=clean_environment())
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout[told.stdout.index("{"):])["dependencies"]


def test_an_apps_package_fetches_nothing_but_this_one(tmp_path):
    [aldaba] = dependencies(ROOT / "Examples" / "ConsumerPackage", tmp_path / "scratch")
    assert aldaba["name"] == "aldaba"
    assert aldaba["dependencies"] == []
    assert list((tmp_path / "scratch" / "checkouts").iterdir()) == []
