"""The extension for JUnit: its page word for word, its own tests, and what is left when a JVM ends."""

import re
import shutil
import subprocess

import pytest

import java_tools
from aldaba_process import BINARY, HERE, clean_environment, environment_of, processes
from java_tools import EXTENSION, compile_extension, compile_java, junit_command
from pages import blocks
from test_run import pytestmark as needs_namespaces
from waiting import kill, wait_until

pytestmark = pytest.mark.skipif(bool(java_tools.why_not()), reason=java_tools.why_not())
SOURCES = HERE / "junit"
PARALLEL = [
    "-Djunit.jupiter.execution.parallel.enabled=true", "-Djunit.jupiter.execution.parallel.mode.default=concurrent",
    "-Djunit.jupiter.execution.parallel.config.strategy=fixed", "-Djunit.jupiter.execution.parallel.config.fixed.parallelism=4"]


def counted(output, kind):
    return int(re.search(rf"\[ *(\d+) tests {kind} *\]", output)[1])


def run(command, folder, **variables):
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=180, check=False,
        # JUnit draws its tree in ASCII where the locale has no more.
        env=clean_environment(TMPDIR=str(folder), LC_ALL="C.UTF-8", **variables))


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    """A folder with the classes of the extension and of the example."""
    classes = tmp_path_factory.mktemp("junit") / "classes"
    compile_extension(classes)
    return compile_java(classes, EXTENSION / "example/Sender.java")


@pytest.fixture
def classes(extension, tmp_path):
    return shutil.copytree(extension, tmp_path / "classes")


def junit_flags(folder):
    return [f"-Djava.io.tmpdir={folder}", "-Dfile.encoding=UTF-8"]


def test_the_page_s_commands_run_the_page_s_test(tmp_path):
    shutil.copytree(EXTENSION / "src/aldaba", tmp_path / "aldaba")
    shutil.copy(EXTENSION / "example/Sender.java", tmp_path)
    [text] = blocks("junit.md", "java")
    (tmp_path / "PushTest.java").write_text(text)
    [commands] = blocks("junit.md", "sh")
    path = ":".join(str(java_tools.jar(name)) for name in [*java_tools.API, *java_tools.CONSOLE])
    done = run(["sh", "-eux", "-c", commands], tmp_path, JUNIT=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert counted(done.stdout, "successful") == 2
    # Between the colours of a terminal.
    assert blocks("junit.md", "text")[0] in re.sub(r"\x1b\[\d+m", "", done.stdout)


@pytest.mark.parametrize("flags", [[], PARALLEL], ids=["in turn", "at the same time"])
def test_the_extension_s_own_tests(classes, tmp_path, flags):
    compile_java(classes, SOURCES / "JsonTest.java", SOURCES / "ExtensionTest.java")
    done = run(junit_command(classes, *junit_flags(tmp_path), *flags), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert counted(done.stdout, "successful") == 16
    assert not list(tmp_path.glob("aldaba-*")), "the server's folder is removed"


@needs_namespaces
def test_under_aldaba_run_the_tests_use_its_server_and_trust_it(classes, tmp_path):
    compile_java(classes, SOURCES / "ExtensionTest.java")
    done = run([str(BINARY), "run", "--quiet", "--", *junit_command(classes, *junit_flags(tmp_path))], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert counted(done.stdout, "successful") == 12


def servers(folder):
    """The servers that a JVM with this temporary folder started."""
    mark = f"TMPDIR={folder}".encode()
    return [pid for pid in processes() if (names := environment_of(pid)) and mark in names and b"ALDABA_SUPERVISED=1" in names]


def test_the_server_ends_when_the_jvm_is_killed(classes, tmp_path):
    compile_java(classes, SOURCES / "EndlessTest.java")
    with subprocess.Popen(
            junit_command(classes, *junit_flags(tmp_path)), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=clean_environment(TMPDIR=str(tmp_path))) as machine:
        try:
            assert re.fullmatch(r"server https://127\.0\.0\.1:\d+\n", machine.stdout.readline())
            assert len(servers(tmp_path)) == 1
        finally:
            kill(machine.pid)
    wait_until(lambda: not servers(tmp_path), "the server has ended")


def test_a_program_that_does_not_start_fails_the_tests_with_its_words(classes, tmp_path):
    compile_java(classes, SOURCES / "ExtensionTest.java")
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\necho 'cannot listen' >&2\nexit 1\n")
    program.chmod(0o755)
    done = run(junit_command(classes, *junit_flags(tmp_path), f"-Daldaba.program={program}"), tmp_path)
    assert done.returncode == 1 and "aldaba did not start: cannot listen" in done.stdout, done.stdout
    assert counted(done.stdout, "failed") == 12
    assert not list(tmp_path.glob("aldaba-*"))
