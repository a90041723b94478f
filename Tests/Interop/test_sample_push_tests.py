"""Examples/push-tests: an application with forty tests of its pushes, run by the command of its page."""

import re
import shutil
import subprocess
import sys

import pytest

from aldaba_process import BINARY, REPOSITORY, clean_environment
from plugin_suite import SOURCE
from test_run import pytestmark  # noqa: F401  (whether namespaces can be made)

SAMPLE = REPOSITORY / "Examples/push-tests"


@pytest.fixture
def sample(tmp_path):
    """A copy of the application, in which a test can make a mistake."""
    return shutil.copytree(SAMPLE, tmp_path / "push-tests", ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))


def run_tests(folder, *arguments):
    """The page's command, with the plugin from its source."""
    [command] = re.findall(r"(?m)^pytest (.*)$", (SAMPLE / "README.md").read_text())
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "aldaba.pytest_plugin", "-p", "no:cacheprovider", *command.split(), *arguments]
    environment = clean_environment(ALDABA_PROGRAM=str(BINARY), PYTHONPATH=str(SOURCE), PYTHONDONTWRITEBYTECODE="1")
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL, env=environment)


def test_forty_tests_pass(sample):
    done = run_tests(sample)
    assert done.returncode == 0 and re.search(r"^40 passed in ", done.stdout, re.M), done.stdout + done.stderr


def test_forty_tests_pass_in_two_processes(sample):
    done = run_tests(sample, "-n", "2")
    assert done.returncode == 0 and re.search(r"^40 passed in ", done.stdout, re.M), done.stdout + done.stderr


@pytest.mark.parametrize("file, right, wrong, failed", [
    ("outcome.py", "(0, 429, 500, 503)", "(0, 500, 503)", "test_it_tries_again_after_the_time_that_the_service_names"),
    ("outcome.py", '"Unregistered", ', "", "test_a_token_that_is_gone_is_forgotten"),
    ("shop.py", 'push_type="background"', 'push_type="alert"', "test_an_iphone_is_woken_without_an_alert"),
    ("shop.py", " || ", " && ", "test_an_offer_for_two_topics_is_one_message_with_a_condition"),
], ids=["retry", "gone", "silent", "topics"])
def test_a_mistake_in_the_application_fails_a_test(sample, file, right, wrong, failed):
    source = sample / "shop" / file
    text = source.read_text()
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong))
    done = run_tests(sample, "-k", failed)
    assert done.returncode == 1 and re.search(rf"^FAILED tests/\w+\.py::{failed}", done.stdout, re.M), done.stdout + done.stderr


def test_the_application_names_no_test_server():
    sources = list((SAMPLE / "shop").glob("*.py"))
    assert sources
    for source in sources:
        assert "aldaba" not in source.read_text().lower()
