"""The page for other languages: its programs as they stand there, each by its command."""

import shutil
import subprocess

import pytest

from aldaba_process import clean_environment
from pages import blocks
from test_run import fixtures, pytestmark  # noqa: F401  (an application's own keys, and whether namespaces can be made)

PAGE = "test-in-other-languages.md"
# The language of a program's block, the name that the page's command calls it, and the interpreter that must be here.
PROGRAMS = [("bash", "push.sh", "curl"), ("js", "push.test.mjs", "node"), ("go", "push_test.go", "go"), ("php", "push.php", "php")]


def page_commands():
    return blocks("test-in-other-languages.md", "sh")


@pytest.mark.parametrize("index, program", list(enumerate(PROGRAMS)), ids=[name for _, name, _ in PROGRAMS])
def test_a_program_of_the_page_sends_and_finds_what_arrived(fixtures, index, program):
    language, file, interpreter = program
    if shutil.which(interpreter) is None:
        pytest.skip(f"no {interpreter}")
    commands = page_commands()
    assert len(commands) == len(PROGRAMS)
    [text] = blocks(PAGE, language)
    (fixtures / file).write_text(text)
    (fixtures / "go.mod").write_text("module push\n\ngo 1.19\n")
    environment = clean_environment(GOPROXY="off", GOTOOLCHAIN="local", GOCACHE=str(fixtures / "cache"))
    done = subprocess.run(
        ["sh", "-eu", "-c", commands[index]], cwd=fixtures, env=environment, capture_output=True, text=True, timeout=300,
        check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    if language == "bash":
        status, entry = done.stdout.splitlines()
        assert status == "200" and '"title":"Hello"' in entry
    elif language == "php":
        assert done.stdout.startswith("projects/my-app-12345/messages/")


def test_a_program_fails_where_something_else_arrived(fixtures):
    [text] = blocks(PAGE, "php")
    (fixtures / "push.php").write_text(text.replace("'title' => 'Hello'", "'title' => 'Bye'"))
    done = subprocess.run(
        ["sh", "-eu", "-c", page_commands()[3]], cwd=fixtures, env=clean_environment(), capture_output=True, text=True,
        timeout=60, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
