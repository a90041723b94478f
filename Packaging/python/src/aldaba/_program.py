"""The program `aldaba` that this package brings along."""

import os
import shutil
import sys

from aldaba._bundle import unpacked


def program():
    """The path of the program: the one that ALDABA_PROGRAM names, else that of the wheel, else one on PATH."""
    named = os.environ.get("ALDABA_PROGRAM")
    if named:
        if not os.access(named, os.X_OK):
            raise FileNotFoundError(f"ALDABA_PROGRAM names {named}, which is no program")
        return named
    bundled = unpacked()
    if bundled:
        return bundled
    found = shutil.which("aldaba")
    # The console script of this package is no program of its own.
    if found and not _is_script(found):
        return found
    raise FileNotFoundError(
        "this package has no program `aldaba` in it: install its wheel for this system, or name one in ALDABA_PROGRAM")


def _is_script(path):
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def main():
    """The console script: becomes the program."""
    try:
        path = program()
    except OSError as fault:
        sys.exit(f"aldaba: {fault}")
    os.execv(path, [path, *sys.argv[1:]])
