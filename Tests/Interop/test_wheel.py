"""The wheel of Packaging/python, made by Scripts/make-wheel of a small program in place of a release, and installed by pip."""

import email
import fcntl
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

from aldaba_process import REPOSITORY, clean_environment, run_aldaba
from test_run import NAMESPACES
from waiting import wait_until

COMPILER = shutil.which("clang") or shutil.which("cc")
# It is linked as SwiftPM links, with a library that has another one, and with one of which it uses nothing. It prints how it was
# called.
PROGRAM = """
#include <stdio.h>
const char *nghttp2_version(int);
void *xcb_connect(const char *, int *);
void *(*volatile connect)(const char *, int *) = xcb_connect;
int main(int count, char **words) {
    printf("%s %d %d\\n", count > 1 ? words[1] : "", nghttp2_version(0) != 0, connect == 0);
    return 7;
}
"""

pytestmark = [
    pytest.mark.skipif(not COMPILER, reason="a compiler makes the program"),
    pytest.mark.skipif(not shutil.which("dpkg-query"), reason="the licences of libraries are those of Debian's packages"),
]


def compiled(folder, path="/nowhere:$ORIGIN"):
    """A program with a search path for libraries."""
    (folder / "program.c").write_text(PROGRAM)
    places = [f"/usr/lib/x86_64-linux-gnu/{name}" for name in ("libdbus-1.so.3", "libnghttp2.so.14", "libxcb.so.1")]
    subprocess.run(
        [COMPILER, "-o", folder / "aldaba", folder / "program.c", f"-Wl,--no-as-needed,--enable-new-dtags,-rpath,{path}", *places],
        check=True, timeout=60)
    return folder / "aldaba"


def make(program, folder, *arguments):
    return subprocess.run(
        [REPOSITORY / "Scripts/make-wheel", program, "--output", folder, *arguments], capture_output=True, text=True, timeout=120,
        check=False, env=clean_environment(SOURCE_DATE_EPOCH="1764284400"))


LIBRARIES = ["libnghttp2.so.14", "libxcb.so.1", "libXau.so.6", "libXdmcp.so.6", "libbsd.so.0", "libmd.so.0"]
COMMAND = [sys.executable, "-c", "from aldaba._program import main; main()", "first"]


def started(command, folder, **variables):
    """The completed process of the wheel's command, and the libraries that its program ended with, without those of glibc and GCC."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=30,
        env=clean_environment(LD_DEBUG="files", LD_DEBUG_OUTPUT=str(folder / "loads"), HOME=str(folder / "home"), **variables))
    loads = "".join(text for file in folder.glob("loads.*") if "nghttp2" in (text := file.read_text()))
    loaded = set(re.findall(r"calling fini: (\S+/lib(?!c\.|gcc_s|stdc|m\.)\S+)", loads))
    return done, loaded


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    done = make(compiled(folder), folder / "dist")
    assert done.returncode == 0, done.stderr
    [made] = (folder / "dist").iterdir()
    assert done.stdout == f"{made}\n"
    return made


def test_the_name_tells_the_version_and_the_oldest_glibc(wheel):
    version = run_aldaba("--version").stdout.split()[1]
    glibc = subprocess.run(["getconf", "GNU_LIBC_VERSION"], capture_output=True, text=True, check=True, timeout=10).stdout.split()[1]
    assert wheel.name == f"aldaba-{version}-py3-none-manylinux_{glibc.replace('.', '_')}_x86_64.whl"


def test_the_libraries_and_their_licences_come_along(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    # libbsd and libmd are what libXdmcp needs. libdbus is not used, and so libsystemd, which it needs, is not either.
    assert {name.split("/")[-1] for name in names if name.startswith("aldaba/program/")} == {
        "aldaba.xz", "name", "libnghttp2.so.14", "libxcb.so.1", "libXau.so.6", "libXdmcp.so.6", "libbsd.so.0", "libmd.so.0"}
    licences = {re.sub(r"^[^/]*/licenses/", "", name) for name in names if "/licenses/" in name}
    assert {"LICENSE", "libraries/libnghttp2-14.copyright", "libraries/libxau6.copyright", "libraries/libbsd0.copyright"} <= licences
    assert any(name.startswith("linked/swift-nio/") for name in licences)


def test_the_modules_and_the_mark_of_their_types_come_along(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    sources = {f"aldaba/{file.name}" for file in (REPOSITORY / "Packaging/python/src/aldaba").iterdir() if file.is_file()}
    assert {"aldaba/agent.py", "aldaba/_agent_protocol.py", "aldaba/py.typed"} <= sources
    assert sources == {name for name in names if name.count("/") == 1 and name.startswith("aldaba/")}


def test_pip_installs_it_and_its_command_is_the_program_with_the_bundled_libraries(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel], check=True, timeout=120)
    done, loaded = started([tmp_path / "venv/bin/aldaba", "first"], tmp_path)
    assert (done.returncode, done.stdout) == (7, "first 1 0\n")
    [program] = (tmp_path / "venv").glob("lib/python*/site-packages/aldaba/program/*/aldaba")
    assert loaded == {str(program.parent / name) for name in LIBRARIES}
    told = subprocess.run(
        [python, "-c", "import importlib.metadata as m; print([e.value for e in m.entry_points(group='pytest11')], m.requires('aldaba'))"],
        capture_output=True, text=True, check=True, timeout=30).stdout
    assert "aldaba.pytest_plugin" in told and "extra ==" in told
    assert subprocess.run([python, "-m", "pip", "check"], timeout=60).returncode == 0
    asked = subprocess.run(
        [python, "-c", "from aldaba.agent import Agent; Agent('a', path='/none').connect()"], capture_output=True, text=True,
        timeout=30)
    assert "AgentError: No agent listens at /none" in asked.stderr


def test_the_same_files_make_the_same_bytes(wheel, tmp_path):
    assert make(wheel.parent.parent / "aldaba", tmp_path).returncode == 0
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_metadata_are_those_of_the_source(wheel):
    archive = zipfile.ZipFile(wheel)
    [name] = [name for name in archive.namelist() if name.endswith("/METADATA")]
    told = email.message_from_bytes(archive.read(name))
    assert (told["Name"], told["License-Expression"], told["Requires-Python"]) == ("aldaba", "Apache-2.0", ">=3.10")
    assert set(told.get_all("License-File")) == {
        re.sub(r"^[^/]*/licenses/", "", name) for name in archive.namelist() if "/licenses/" in name}
    assert told.get_payload().startswith("# aldaba\n")


@pytest.mark.parametrize("path, arguments, words", [
    ("/nowhere", [], "does not end with $ORIGIN"), ("$ORIGIN", ["--largest", "0.01"], "more than 0.01")])
def test_what_cannot_be_a_wheel_is_refused(tmp_path, path, arguments, words):
    done = make(compiled(tmp_path, path), tmp_path / "dist", *arguments)
    assert done.returncode == 1 and words in done.stderr
    assert not list((tmp_path / "dist").glob("*"))


def test_a_library_that_only_another_library_uses_without_a_link_is_named(tmp_path):
    sources = {"libgiver.so": "int given(void) { return 1; }", "libtaker.so": "int given(void); int taken(void) { return given(); }",
               "aldaba": "int taken(void); int main(void) { return taken(); }"}
    for name, source in sources.items():
        (tmp_path / "source.c").write_text(source)
        links = [tmp_path / each for each in sources if each != name] if name == "aldaba" else ["-shared", "-fPIC", f"-Wl,-soname,{name}"]
        subprocess.run(
            [COMPILER, "-o", tmp_path / name, tmp_path / "source.c", f"-Wl,--no-as-needed,-rpath,{tmp_path}:$ORIGIN", *links],
            check=True, timeout=60)
    done = make(tmp_path / "aldaba", tmp_path / "dist")
    assert (done.returncode, done.stderr) == (1, "make-wheel: without libgiver.so there is no given\n")


def test_a_program_that_is_not_there_is_named(tmp_path):
    done = make(tmp_path / "none", tmp_path / "dist")
    assert done.returncode == 1 and "make release" in done.stderr


@pytest.fixture
def site(wheel, tmp_path):
    """A folder with the package, as pip unpacks it."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    return tmp_path / "site"


def programs(place):
    """What is in the folder of a package, or of a cache, besides the files of the wheel."""
    return [each for each in place.iterdir() if each.is_dir()]


def test_the_program_is_unpacked_once_and_takes_the_place_of_another_version_s(site, tmp_path):
    place = site / "aldaba/program"
    (place / "0.0.1-0123456789abcdef").mkdir()
    (place / ".left").mkdir()
    done, loaded = started(COMMAND, tmp_path, PYTHONPATH=str(site))
    assert (done.returncode, done.stdout, done.stderr) == (7, "first 1 0\n", "")
    [made] = programs(place)
    assert made.name == (place / "name").read_text()
    assert loaded == {str(made / name) for name in LIBRARIES}
    assert {file.name for file in made.iterdir()} == {"aldaba", *LIBRARIES}
    assert (made / "aldaba").stat().st_mode & 0o777 == place.stat().st_mode & 0o755
    before = made.stat(), (made / "aldaba").stat().st_ino
    (place / "aldaba.xz").unlink()
    assert started(COMMAND, tmp_path, PYTHONPATH=str(site))[0].returncode == 7
    assert (made.stat(), (made / "aldaba").stat().st_ino) == before
    assert not (tmp_path / "home").exists()


def test_processes_that_begin_at_once_unpack_the_program_once(site, tmp_path):
    place = site / "aldaba/program"
    environment = clean_environment(PYTHONPATH=str(site), HOME=str(tmp_path))
    with open(place / "aldaba.xz", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        running = [subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(3)]
        waiting = re.compile(rf"-> FLOCK .*:{os.stat(file.fileno()).st_ino} ")
        wait_until(lambda: len(waiting.findall(open("/proc/locks").read())) == 3, "all wait for the lock", 30, folder=tmp_path)
        assert programs(place) == []
    assert [process.communicate(timeout=30)[0] for process in running] == ["first 1 0\n"] * 3
    assert len(programs(place)) == 1


WITHOUT_LOCKS = """
import fcntl, sys
def flock(*_):
    print("here", flush=True)
    sys.stdin.read()
    raise OSError("no locks")
fcntl.flock = flock
"""


def test_processes_that_begin_at_once_do_not_disturb_each_other_where_there_are_no_locks(site, tmp_path):
    command = [sys.executable, "-c", WITHOUT_LOCKS + COMMAND[2], "first"]
    environment = clean_environment(PYTHONPATH=str(site), HOME=str(tmp_path))
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(3)]
    assert [process.stdout.readline() for process in running] == ["here\n"] * 3
    for process in running:
        process.stdin.close()
    for process in running:
        with process:
            assert process.stdout.read() == "first 1 0\n"
    assert len(programs(site / "aldaba/program")) == 1


READ_ONLY = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"']
in_namespaces = pytest.mark.skipif(
    subprocess.run(NAMESPACES, capture_output=True, check=False).returncode != 0, reason="no namespaces for users here")


@in_namespaces
@pytest.mark.parametrize("variables, cache", [({}, "home/.cache/aldaba"), ({"XDG_CACHE_HOME": "cache"}, "cache/aldaba")])
def test_the_program_of_a_package_that_cannot_be_written_is_unpacked_in_the_cache(site, tmp_path, variables, cache):
    variables = {name: str(tmp_path / value) for name, value in variables.items()} | {"PYTHONPATH": str(site)}
    done, loaded = started([*READ_ONLY, site, *COMMAND], tmp_path, **variables)
    assert (done.returncode, done.stdout, done.stderr) == (7, "first 1 0\n", "")
    assert programs(site / "aldaba/program") == []
    [made] = programs(tmp_path / cache)
    assert loaded == {str(made / name) for name in LIBRARIES}
    assert made.stat().st_mode & 0o777 == (made / "aldaba").stat().st_mode & 0o777 == 0o700
    (site / "aldaba/program/aldaba.xz").unlink()
    assert started([*READ_ONLY, site, *COMMAND], tmp_path, **variables)[0].returncode == 7


@in_namespaces
def test_folders_that_cannot_be_written_are_named(site, tmp_path):
    done, _ = started([*READ_ONLY, site, *COMMAND], tmp_path, PYTHONPATH=str(site), XDG_CACHE_HOME=str(site))
    reason = "Read-only file system"
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"aldaba: the program can be unpacked in no folder: {site}/aldaba/program ({reason}), {site}/aldaba ({reason}); name a "
        "folder that can be written in XDG_CACHE_HOME, or a program in ALDABA_PROGRAM\n")


@in_namespaces
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to another user")
def test_another_user_s_program_in_the_cache_is_not_run(site, tmp_path):
    variables = {"PYTHONPATH": str(site), "XDG_CACHE_HOME": str(tmp_path)}
    started([*READ_ONLY, site, *COMMAND], tmp_path, **variables)
    [made] = programs(tmp_path / "aldaba")
    os.chown(made / "aldaba", 65534, 65534)
    done, _ = started([*READ_ONLY, site, *COMMAND], tmp_path, **variables)
    assert done.returncode == 1 and f"{tmp_path}/aldaba (Directory not empty)" in done.stderr


def test_a_program_that_is_damaged_is_not_left(site, tmp_path):
    packed = site / "aldaba/program/aldaba.xz"
    packed.write_bytes(packed.read_bytes()[:-100])
    done, _ = started(COMMAND, tmp_path, PYTHONPATH=str(site))
    assert done.returncode == 1 and "Compressed file ended before the end-of-stream marker" in done.stderr
    assert programs(site / "aldaba/program") == [] and programs(tmp_path / "home/.cache/aldaba") == []
