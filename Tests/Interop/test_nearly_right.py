"""Payloads that are nearly right: `aldaba send` says where and what was meant, and the timeline warns."""

import json

import pytest

from aldaba_process import run_aldaba

NEARLY_RIGHT = {
    "trailing comma": ('{\n  "aps": {"alert": "Hi",}\n}', "line 2, column 24", "leave the comma out"),
    "typographic quotes": ('{“aps”: {"alert": "Hi"}}', "line 1, column 2", 'write a plain "'),
    "missing brace": ('{"aps": {"alert": "Hi"}', "line 1, column 24", "write } behind it"),
    "aps is a string": ('{"aps": "Hi"}', "line 1, column 9", 'write {"alert":'),
    "alert outside": ('{"aps": {"badge": 1},\n "alert": "Hi"}', "line 2, column 2", "write it inside"),
}


@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["send", "dry run"])
@pytest.mark.parametrize("name", NEARLY_RIGHT)
def test_a_payload_that_is_nearly_right_is_refused_by_the_command(path, tmp_path, name, options):
    text, place, meant = NEARLY_RIGHT[name]
    file = tmp_path / "payload.json"
    file.write_text(text)
    done = run_aldaba(
        "send", "--token", path["deviceToken"], "--payload", file, "--data", path["data"], *options, check=False)
    assert done.returncode == 3
    assert place in done.stderr and meant in done.stderr and "Nothing was sent" in done.stderr


def test_a_dry_run_needs_no_server(tmp_path):
    done = run_aldaba("send", "--token", "ab" * 32, "--title", "Hi", "--dry-run", "--json", "--data", tmp_path)
    assert json.loads(json.loads(done.stdout)["payload"]) == {"aps": {"alert": {"title": "Hi"}}}


def test_as_is_leaves_the_word_to_the_server(path, tmp_path):
    file = tmp_path / "payload.json"
    file.write_text('{"aps": {"alert": "Hi",}}')
    done = run_aldaba(
        "send", "--token", path["deviceToken"], "--payload", file, "--data", path["data"], "--as-is", check=False)
    assert done.returncode == 3 and "PayloadEmpty" in done.stderr


def test_a_payload_without_aps_is_accepted_and_its_timeline_warns(path, tmp_path):
    file = tmp_path / "payload.json"
    file.write_text('{"todo": "Buy milk"}')
    sent = run_aldaba(
        "send", "--token", path["deviceToken"], "--payload", file, "--data", path["data"], "--json")
    assert "no \"aps\"" in sent.stderr
    told = run_aldaba("get", json.loads(sent.stdout)["apnsId"], "--timeline", "--data", path["data"])
    accepted = next(line for line in told.stdout.splitlines() if " accepted " in line)
    assert 'the payload has no "aps"' in accepted
