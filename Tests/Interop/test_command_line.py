"""What a person meets who mistypes: `aldaba` names what is wrong, and what would be right."""

import json
import plistlib
import re
import subprocess

import pytest

from aldaba_process import clean_environment, run_aldaba

CONFIGURED = (("up",), ("serve",), ("agent",), ("agent", "run"), ("doctor",))
OTHERS = (
    ("send", "--token", "ab"), ("get", "x"), ("app", "list"), ("notifications", "dismiss", "3"), ("notify", "x"),
    ("settings",), ("relay", "devices"), ("media", "list"), ("hub", "list"), ("report",))


@pytest.mark.parametrize("words", CONFIGURED + OTHERS, ids=" ".join)
def test_an_unknown_flag_is_an_error_of_usage_everywhere(words):
    done = run_aldaba(*words, "--jsn", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Unknown option '--jsn'" in done.stderr
    assert "host" not in done.stderr
    if "--json" in run_aldaba(*words, "--help").stdout:
        assert "Did you mean '--json'?" in done.stderr


@pytest.mark.parametrize("words", CONFIGURED, ids=" ".join)
def test_settings_are_part_of_help_at_80_columns(words):
    if words == ("agent",):
        assert "aldaba agent run --help" in run_aldaba(*words, "--help").stdout
        return
    told = run_aldaba(*words, "--help", env=clean_environment(COLUMNS="80")).stdout
    lines = told[told.index("SETTINGS"):].splitlines()
    assert any(line.startswith("  --data <path> ") for line in lines)
    for line in lines:
        assert len(line) <= 80 and (not line or line.startswith("  ") or line.endswith(":")), line


def test_settings_are_completed():
    script = run_aldaba("--generate-completion-script", "bash").stdout
    for flag in ("--apns-port", "--presenter", "--agent-server"):
        assert flag in script


def test_a_secret_behind_a_misspelt_flag_is_not_repeated():
    done = run_aldaba("serve", "--enrolment-kye", "secret-4f1c", check=False)
    assert done.returncode == 2 and "Did you mean '--enrolment-key'?" in done.stderr
    assert "secret-4f1c" not in done.stderr


@pytest.mark.parametrize(("words", "told"), [
    (("agent", "start"), "`aldaba agent` has: run, status, apps, app"),
    (("agent", "aps", "--json"), "did you mean `aldaba agent apps`?"),
    (("help", "nonsense"), "there is no command `aldaba nonsense`"),
    (("help", "agent", "nonsense"), "`aldaba agent` has: run, status, apps"),
    (("nonsense",), "`aldaba` has: up, run, serve, agent"),
    (("notifications", "dismss", "3"), "did you mean `aldaba notifications dismiss`?"),
], ids=" ".join)
def test_a_word_that_is_no_command_is_told_with_those_that_are(words, told):
    done = run_aldaba(*words, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_help_of_what_there_is():
    assert "aldaba agent status" in run_aldaba("help", "agent", "status").stdout
    assert "SUBCOMMANDS" in run_aldaba("help").stdout


def test_a_host_that_is_none_is_refused_with_the_other_faults(tmp_path):
    done = run_aldaba("serve", "--host", "nope", "--apns-port", "70000", "--data", tmp_path / "new", check=False)
    assert done.returncode == 3
    assert "--host: host is" in done.stderr and "--apns-port: apns-port is" in done.stderr
    assert not (tmp_path / "new").exists()


def test_ephemeral_has_no_data_folder_of_ones_own(tmp_path):
    done = run_aldaba("up", "--ephemeral", "--data", tmp_path / "new", check=False)
    assert done.returncode == 2 and "--ephemeral" in done.stderr and "--data" in done.stderr
    assert not (tmp_path / "new").exists()


def test_a_misspelt_variable_is_named(tmp_path):
    variables = clean_environment(ALDABA_APNS_PROT="1", ALDABA_APP_ID="com.example.x")
    told = run_aldaba("doctor", "--data", tmp_path, env=variables, check=False).stderr
    assert "ALDABA_APNS_PROT is no setting; did you mean ALDABA_APNS_PORT?" in told
    assert "ALDABA_APP_ID" not in told


@pytest.mark.parametrize("key", ["executable", "serviceExtension.executable"])
def test_a_manifest_whose_program_is_not_there_is_refused(tmp_path, key):
    (tmp_path / "data").mkdir(mode=0o700)
    manifest = {"id": "com.example.gone", "team": "ALDABADEMO", "executable": "/usr/bin/sleep"}
    if key == "executable":
        manifest |= {"executable": "/nowhere/program"}
    else:
        manifest |= {"serviceExtension": {"id": "com.example.gone.Service", "executable": "/nowhere/program"}}
    draft = tmp_path / "manifest.json"
    draft.write_text(json.dumps(manifest))
    done = run_aldaba("agent", "app", "install", draft, "--data", tmp_path / "data", check=False)
    assert done.returncode == 3
    assert f"`{key}`: /nowhere/program: No such file" in done.stderr
    assert not list((tmp_path / "data").rglob("*.json"))


def test_a_manifest_goes_into_no_other_agents_folder(tmp_path):
    draft = tmp_path / "manifest.json"
    draft.write_text(json.dumps({"id": "com.example.here", "team": "ALDABADEMO", "executable": "/usr/bin/sleep"}))
    done = run_aldaba("agent", "app", "install", draft, "--agent-socket", tmp_path / "agent.sock", check=False)
    assert done.returncode == 3 and "name it with --data" in done.stderr, done.stderr


def certificate(folder, name, algorithm):
    key, own = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", *algorithm, "-nodes", "-keyout", key, "-out", own, "-subj", f"/CN={name}"],
        check=True, capture_output=True, timeout=60)
    return own, key


@pytest.mark.parametrize("algorithm", [("rsa:2048",), ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")], ids=("rsa", "ec"))
def test_a_key_that_does_not_fit_its_certificate_is_told(tmp_path, algorithm):
    own, own_key = certificate(tmp_path, "own", algorithm)
    _, other_key = certificate(tmp_path, "other", algorithm)
    served = run_aldaba(
        "serve", "--data", tmp_path / "data", "--certificate", own, "--certificate-key", other_key, check=False)
    assert served.returncode == 3 and "this key does not fit the certificate" in served.stderr
    for key, code, told in ((other_key, 3, "its key does not fit its certificate"), (own_key, 6, "cannot be asked")):
        both = tmp_path / "both.pem"
        both.write_text(own.read_text() + key.read_text())
        both.chmod(0o600)
        sent = run_aldaba(
            "send", "--token", "ab", "--title", "x", "--server", "127.0.0.1:1", "--certificate", both, check=False)
        assert (sent.returncode, told in sent.stderr) == (code, True), sent.stderr


def test_an_app_s_firebase_file_has_its_project(path, tmp_path):
    """The keys of GoogleService-Info.plist, in a property list and in JSON."""
    files = tmp_path / "GoogleService-Info.plist", tmp_path / "todo.firebase.json"
    for file in files:
        done = run_aldaba("app", "config", path["topic"], "--output", file, "--data", path["data"])
        assert str(file) in done.stdout
    plist, members = plistlib.loads(files[0].read_bytes()), json.loads(files[1].read_text())
    account = json.loads(run_aldaba("service-account", "list", "--json", "--data", path["data"]).stdout)[0]
    assert members["GCM_SENDER_ID"] == account["senderId"] and members["PROJECT_ID"] == account["projectId"]
    assert members["BUNDLE_ID"] == path["topic"] and re.fullmatch(r"1:\d+:ios:[0-9a-f]{16}", members["GOOGLE_APP_ID"])
    assert members["API_KEY"].startswith("AIza") and len(members["API_KEY"]) == 39
    assert plist == members | {"IS_GCM_ENABLED": True}
    printed = run_aldaba("app", "config", path["topic"], "--data", path["data"]).stdout
    assert json.loads(printed) == members
    unknown = run_aldaba("app", "config", "com.example.nobody", "--data", path["data"], check=False)
    assert unknown.returncode == 3 and "aldaba app list" in unknown.stderr
