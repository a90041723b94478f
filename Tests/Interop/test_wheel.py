"""The wheel of Packaging/python, made by Scripts/make-wheel of a small program in place of a release, and installed by pip."""

import email
import re
import shutil
import subprocess
import venv
import zipfile

import pytest

from aldaba_process import REPOSITORY, clean_environment, run_aldaba

COMPILER = shutil.which("clang") or shutil.which("cc")
# It is linked as SwiftPM links, with a library that has another one, and prints how it was called.
PROGRAM = """
#include <stdio.h>
const char *nghttp2_version(int);
void *xcb_connect(const char *, int *);
int main(int count, char **words) {
    printf("%s %d %d\\n", count > 1 ? words[1] : "", nghttp2_version(0) != 0, xcb_connect == 0);
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
    places = {name: f"/usr/lib/x86_64-linux-gnu/{name}" for name in ("libnghttp2.so.14", "libxcb.so.1")}
    subprocess.run(
        [COMPILER, "-o", folder / "aldaba", folder / "program.c", *places.values(), f"-Wl,--enable-new-dtags,-rpath,{path}"],
        check=True, timeout=60)
    return folder / "aldaba"


def make(program, folder, *arguments):
    return subprocess.run(
        [REPOSITORY / "Scripts/make-wheel", program, "--output", folder, *arguments], capture_output=True, text=True, timeout=120,
        check=False, env=clean_environment(SOURCE_DATE_EPOCH="1764284400"))


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
    # libbsd and libmd are what libXdmcp needs.
    assert {name.split("/")[-1] for name in names if name.startswith("aldaba/bundle/")} == {
        "aldaba", "libnghttp2.so.14", "libxcb.so.1", "libXau.so.6", "libXdmcp.so.6", "libbsd.so.0", "libmd.so.0"}
    licences = {re.sub(r"^[^/]*/licenses/", "", name) for name in names if "/licenses/" in name}
    assert {"LICENSE", "libraries/libnghttp2-14.copyright", "libraries/libxau6.copyright", "libraries/libbsd0.copyright"} <= licences
    assert any(name.startswith("linked/swift-nio/") for name in licences)


def test_pip_installs_it_and_its_command_is_the_program_with_the_bundled_libraries(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel], check=True, timeout=120)
    done = subprocess.run(
        [tmp_path / "venv/bin/aldaba", "first"], capture_output=True, text=True, check=False, timeout=30,
        env=clean_environment(LD_DEBUG="files", LD_DEBUG_OUTPUT=str(tmp_path / "loads")))
    assert (done.returncode, done.stdout) == (7, "first 1 0\n")
    loads = "".join(file.read_text() for file in tmp_path.glob("loads.*"))
    [bundle] = (tmp_path / "venv").glob("lib/python*/site-packages/aldaba/bundle")
    loaded = set(re.findall(r"calling init: (\S+/(?:libnghttp2|libxcb|libXau|libbsd)\.so\S+)", loads))
    assert loaded == {str(bundle / name) for name in ("libnghttp2.so.14", "libxcb.so.1", "libXau.so.6", "libbsd.so.0")}
    told = subprocess.run(
        [python, "-c", "import importlib.metadata as m; print([e.value for e in m.entry_points(group='pytest11')], m.requires('aldaba'))"],
        capture_output=True, text=True, check=True, timeout=30).stdout
    assert "aldaba.pytest_plugin" in told and "extra ==" in told
    assert subprocess.run([python, "-m", "pip", "check"], timeout=60).returncode == 0


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


def test_a_program_that_is_not_there_is_named(tmp_path):
    done = make(tmp_path / "none", tmp_path / "dist")
    assert done.returncode == 1 and "make release" in done.stderr
