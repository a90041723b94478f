"""The program of the wheel, which is compressed there, and is unpacked at its first use."""

import fcntl
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "program"
COMPRESSED = FOLDER / "aldaba.xz"
# Scripts/make-wheel writes the version and a digest into it.
NAME = FOLDER / "name"


def unpacked():
    """The path of the program, unpacked; None where the package has none, as in its source.

    It is in the package's own folder, or in the user's cache where that one cannot be written. Raises OSError when neither can be.
    """
    try:
        name = NAME.read_text()
    except FileNotFoundError:
        return None
    places = [FOLDER, *_caches()]
    found = _found(places, name)
    if found is None:
        with _alone() as is_alone:
            # Another process may have unpacked it meanwhile.
            found = _found(places, name) or _unpack(places, name, is_alone)
    return str(found)


def _caches():
    """The folder of this package in the user's cache; none for a user without one."""
    for path in os.environ.get("XDG_CACHE_HOME", ""), os.path.expanduser("~/.cache"):
        if os.path.isabs(path):
            return [Path(path) / "aldaba"]
    return []


def _found(places, name):
    return next((path for place in places if _is_usable(path := place / name / "aldaba")), None)


def _is_usable(path):
    """Whether a program is there. In a cache it must be this user's own: others may be able to write there."""
    return os.access(path, os.X_OK) and (FOLDER in path.parents or path.stat().st_uid == os.geteuid())


@contextmanager
def _alone():
    """Keeps other processes from unpacking the same package; whether it does, since not all file systems have locks."""
    with open(COMPRESSED, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            yield False
        else:
            yield True


def _unpack(places, name, is_alone):
    try:
        import lzma
    except ImportError:
        raise OSError("this Python has no module lzma, which unpacks the program; name a program in ALDABA_PROGRAM") from None
    faults = []
    for place in places:
        try:
            if place == FOLDER and is_alone:
                _remove_others()
            return _unpack_into(place / name, lzma)
        except (OSError, EOFError, lzma.LZMAError) as fault:
            faults.append(f"{place} ({getattr(fault, 'strerror', None) or fault})")
    raise OSError(
        f"the program can be unpacked in no folder: {', '.join(faults)}; name a folder that can be written in XDG_CACHE_HOME, or "
        "a program in ALDABA_PROGRAM")


def _remove_others():
    """Removes the programs of other versions from the package, and what a killed process left."""
    for each in FOLDER.iterdir():
        if each.is_dir():
            shutil.rmtree(each, ignore_errors=True)


def _unpack_into(folder, lzma):
    """Makes a folder of the program and its libraries. It is there as a whole or not at all."""
    place = folder.parent
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.statvfs(place).f_flag & os.ST_NOEXEC:
        raise OSError("no program can be run there")
    made = Path(tempfile.mkdtemp(prefix=".", dir=place))
    try:
        for library in FOLDER.glob("*.so*"):
            shutil.copy(library, made)
        program = made / "aldaba"
        with lzma.open(COMPRESSED) as packed, open(os.open(program, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700), "wb") as file:
            shutil.copyfileobj(packed, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())
        for each in program, made:
            each.chmod(place.stat().st_mode & 0o755)
        os.rename(made, folder)
    except BaseException as fault:
        shutil.rmtree(made, ignore_errors=True)
        # Where there are no locks another process may have been faster.
        if not (isinstance(fault, OSError) and _is_usable(folder / "aldaba")):
            raise
    return folder / "aldaba"
