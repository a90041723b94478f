"""The packages for Dart in Packaging/dart, by their text: no Dart runs here.

A grammar of Dart reads every file. The library and its own tests name what the vectors name.
"""

import json
import re

import pytest
import yaml

from aldaba_process import REPOSITORY
from pages import BLOCK

tree_sitter = pytest.importorskip("tree_sitter")
tree_sitter_dart = pytest.importorskip("tree_sitter_dart")

FOLDER = REPOSITORY / "Packaging/dart"
PACKAGES = {"aldaba": FOLDER / "aldaba", "aldaba_firebase_messaging": FOLDER / "aldaba_firebase_messaging"}
PAGES = [REPOSITORY / "Docs/dart.md", *(package / "README.md" for package in PACKAGES.values())]
FILES = sorted(FOLDER.rglob("*.dart"))
SDK = {"dart:async", "dart:collection", "dart:convert", "dart:io", "dart:math", "dart:typed_data"}
# The packages that a package may name: of those that run, and of those that only its tests need.
DEPENDENCIES = {
    "aldaba": (set(), {"test"}),
    "aldaba_firebase_messaging": (
        {"aldaba", "firebase_core_platform_interface", "firebase_messaging_platform_interface", "flutter"}, {"test"}),
}
# The members of FirebaseMessagingPlatform that an implementation has.
INTERFACE = {
    "registerWith", "delegateFor", "setInitialValues", "isAutoInitEnabled", "setAutoInitEnabled", "isSupported", "getToken",
    "getAPNSToken", "deleteToken", "onTokenRefresh", "getInitialMessage", "registerBackgroundMessageHandler",
    "setForegroundNotificationPresentationOptions", "sendMessage", "subscribeToTopic", "unsubscribeFromTopic",
    "setDeliveryMetricsExportToBigQuery", "getNotificationSettings", "requestPermission",
}
# What the library does not have, by the names of the vectors.
LACKING = {"liveActivities"}
# Calls of the vectors whose functions have another name in Dart.
RENAMED = {"openURL": {"openUrl"}, "topic": {"subscribe", "unsubscribe"}}


def tree(text):
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_dart.language())).parse(text.encode()).root_node


def nodes(node):
    yield node
    for child in node.children:
        yield from nodes(child)


def faults(text):
    """The places that are no Dart, as lines and what stands there."""
    return [
        f"{node.start_point[0] + 1}: {node.text.decode()[:60]}" for node in nodes(tree(text)) if node.is_error or node.is_missing]


def literals(files):
    """The texts of string literals."""
    texts = (node.text.decode() for file in files for node in nodes(tree(file.read_text())) if node.type == "string_literal")
    return {text[1:-1] for text in texts}


def declared(files):
    """The names of functions and getters."""
    names = set()
    for file in files:
        for node in nodes(tree(file.read_text())):
            if node.type in ("function_signature", "getter_signature"):
                name = node.child_by_field_name("name") or next(one for one in node.children if one.type == "identifier")
                names.add(name.text.decode())
    return names


def library(package):
    return sorted((PACKAGES[package] / "lib").rglob("*.dart"))


def vectors():
    every = [json.loads(file.read_text()) for file in sorted((REPOSITORY / "Packaging/vectors").glob("*.json"))]
    return [vector for vector in every if not LACKING & set(vector.get("needs", []))]


def named_by_the_vectors(direction, member):
    """The values of a member in the messages of all steps of a direction."""
    messages = [step[direction] for vector in vectors() for step in vector["steps"] if direction in step]
    return {message[member] for message in messages if member in message}


def found(package, pattern):
    """The texts of the groups of a pattern in a library."""
    text = "".join(file.read_text() for file in library(package))
    return {group for match in re.findall(pattern, text) for group in ([match] if isinstance(match, str) else match) if group}


def steps(kind):
    return {step[kind] for vector in vectors() for step in vector["steps"] if kind in step}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_a_file_is_dart(file):
    text = file.read_text()
    assert faults(text) == []
    assert [number for number, line in enumerate(text.splitlines(), 1) if len(line) > 120] == []
    assert len(text.splitlines()) <= 300


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_the_dart_of_a_page_is_dart(page):
    blocks = [text for kind, text in BLOCK.findall(page.read_text()) if kind == "dart"]
    assert blocks
    assert [fault for text in blocks for fault in faults(text)] == []


def test_a_file_that_is_not_dart_is_found():
    assert faults("class Tea { void pour( { }\n")
    assert not faults("class Tea { void pour() {} }\n")


def test_the_library_sends_every_type_of_message():
    types = named_by_the_vectors("out", "type")
    assert len(types) > 12
    assert types - found("aldaba", r"'type': '(\w+)'|const String _\w+ = '(\w+)';") == set()


def test_the_library_sends_every_command():
    commands = named_by_the_vectors("out", "command")
    assert len(commands) > 12
    pattern = r"'command': '(\w+)'|_(?:center|channel)\('(\w+)'|'command': \w+ \? '(\w+)' : '(\w+)'"
    assert commands - found("aldaba", pattern) == set()
    assert named_by_the_vectors("out", "outcome") - found("aldaba", r"'outcome': '(\w+)'") == set()


@pytest.mark.parametrize("member", ["type", "event"])
def test_the_library_reads_every_message(member):
    known = named_by_the_vectors("in", member) - {"aMessageOfLater"}
    assert len(known) > 4
    assert known - found("aldaba", r"case '(\w+)':|== '(\w+)'") == set()


def test_what_the_agent_confirms_is_an_answer_of_the_library():
    confirmed = found("aldaba", r"_answers\.confirm\('(\w+)'")
    assert confirmed == {"handled", "responseHandled", "taken"}
    assert confirmed < found("aldaba", r"get answer => '(\w+)';")


def test_the_library_has_every_event_of_the_app():
    assert len(steps("event")) >= 12
    assert steps("event") - found("aldaba", r"get name => '(\w+)';") == set()


def test_every_call_is_a_function_of_the_library_and_is_made_by_its_own_test():
    functions = declared(library("aldaba"))
    tested = literals([PACKAGES["aldaba"] / "test/vectors_test.dart"])
    assert len(steps("call")) >= 17
    for call in steps("call"):
        assert RENAMED.get(call, {call}) <= functions, call
        assert call in tested, call


def test_the_own_test_leaves_out_what_the_library_lacks():
    tested = literals([PACKAGES["aldaba"] / "test/vectors_test.dart"])
    assert LACKING <= tested and "needs" in tested
    lacking = [
        "activity" in message.values() for vector in vectors() for step in vector["steps"] if (message := step.get("out"))]
    assert lacking and not any(lacking)


def test_the_own_test_knows_every_kind_of_step():
    kinds = {next(iter(step)) for vector in vectors() for step in vector["steps"]}
    assert kinds == {"call", "out", "in", "result", "error", "event", "state", "disconnect"}
    assert kinds <= literals([PACKAGES["aldaba"] / "test/vectors_test.dart"])


def test_the_values_of_notifications_are_those_of_the_vectors():
    texts = literals(library("aldaba"))
    contents = [
        value["content"] for vector in vectors() for step in vector["steps"] if (value := step.get("out", {}).get("notification"))
        and isinstance(value, dict)]
    assert contents
    assert {name for content in contents for name in content} - texts == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_depends_on_nothing_else(package):
    pubspec = yaml.safe_load((PACKAGES[package] / "pubspec.yaml").read_text())
    running, testing = DEPENDENCIES[package]
    assert pubspec["name"] == package
    assert set(pubspec.get("dependencies", {})) == running
    assert set(pubspec["dev_dependencies"]) == testing


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_a_file_imports_what_there_is(file):
    package = next(name for name, folder in PACKAGES.items() if folder in file.parents)
    running, testing = DEPENDENCIES[package]
    allowed = running | (testing if "test" in file.parts else set()) | {package}
    for target in re.findall(r"^(?:import|export|part) '([^']+)'", file.read_text(), re.M):
        if target.startswith("dart:"):
            assert target in SDK
        elif target.startswith("package:"):
            name, path = target.removeprefix("package:").split("/", 1)
            assert name in allowed
            assert name not in PACKAGES or (PACKAGES[name] / "lib" / path).is_file()
        else:
            assert (file.parent / target).is_file()


def test_the_implementation_has_the_members_of_the_interface():
    source = PACKAGES["aldaba_firebase_messaging"] / "lib/src/messaging.dart"
    assert declared([source]) >= INTERFACE
    pubspec = yaml.safe_load((PACKAGES["aldaba_firebase_messaging"] / "pubspec.yaml").read_text())
    plugin = pubspec["flutter"]["plugin"]
    assert plugin["implements"] == "firebase_messaging"
    assert plugin["platforms"] == {"linux": {"dartPluginClass": "AldabaFirebaseMessaging"}}
    assert "class AldabaFirebaseMessaging extends FirebaseMessagingPlatform" in source.read_text()


def test_the_page_names_every_call_of_the_interface():
    page = (REPOSITORY / "Docs/dart.md").read_text()
    shown = INTERFACE - {"registerWith", "delegateFor", "setInitialValues", "registerBackgroundMessageHandler"}
    assert [name for name in sorted(shown) if f"`{name}" not in page] == []
