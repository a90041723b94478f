"""The page on closed networks: clients and the server take its certificate, and Firefox takes its policy."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys

import pytest

from aldaba_process import HERE, REPOSITORY, clean_environment
from certificates import Certificates
from own_server import OwnServer
from pages import blocks

PAGE = "closed-network.md"


@pytest.fixture
def certificates(tmp_path):
    """The files that the commands of the page make."""
    script = "\n".join(blocks("closed-network.md", "sh"))
    done = subprocess.run(
        ["sh", "-eux"], input=script, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        env=clean_environment())
    assert done.returncode == 0, done.stderr
    return Certificates(tmp_path / "ca.pem", tmp_path / "fullchain.pem", tmp_path / "privkey.pem")


def secured(port, authority, name):
    """The protocol of a connection to the port on which the server has the name."""
    context = ssl.create_default_context(cafile=authority)
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    with socket.create_connection(("127.0.0.1", port), 10) as raw:
        with context.wrap_socket(raw, server_hostname=name) as tls:
            return tls.version()


def test_clients_that_trust_the_authority_trust_the_server_under_its_name(certificates, tmp_path):
    server = OwnServer(tmp_path / "server", "test_closed_network")
    server.certificates = certificates
    with server:
        for listener in ("device", "control"):
            port = server.addresses[f"{listener}Port"]
            assert secured(port, certificates.ca, "push.example") == "TLSv1.3"
            with pytest.raises(ssl.SSLCertVerificationError, match="not valid for 'other.example'"):
                secured(port, certificates.ca, "other.example")


def test_the_ports_of_the_page_are_those_of_the_settings():
    settings = (REPOSITORY / "Docs/configuration.md").read_text()
    defaults = dict(re.findall(r"^\| `([a-z-]+-port)` .*?\| port, [^|]*\| (?:`(\d+)`|–) \|", settings, re.M))
    page = (REPOSITORY / "Docs" / PAGE).read_text()
    rows = re.findall(r"^\|[^|]*\| server \| (\d+)/TCP \| `([a-z-]+-port)`", page, re.M)
    rows += re.findall(r"Port (\d+) \(`(http-port)`\)", page)
    assert {name for _, name in rows} == {"apns-port", "control-port", "device-port", "metrics-port", "http-port"}
    assert [(port, name) for port, name in rows if defaults[name] != port] == []


# Writes the policy over this machine's /etc, which nobody else sees, and asks Firefox itself what it makes of it.
IN_A_MACHINE = """
import json, os, shutil, sys
from pathlib import Path
from console_firefox import Firefox
from waiting import wait_until

folder, authority, policies = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
Path("/etc/firefox/policies").mkdir(parents=True)
Path("/etc/firefox/policies/policies.json").write_text(policies)
shutil.copy(authority, "/etc/ssl/aldaba-ca.pem")
program = folder / "firefox-esr"
program.write_text(f'#!/bin/sh\\nexec {shutil.which(program.name)} --remote-allow-system-access "$@"\\n')
program.chmod(0o755)
os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
TRUSTED = '''
    const known = Cc["@mozilla.org/security/x509certdb;1"].getService(Ci.nsIX509CertDB);
    return known.getCerts().some(each => each.commonName == "Our authority"
        && known.isCertTrusted(each, Ci.nsIX509Cert.CA_CERT, Ci.nsIX509CertDB.TRUSTED_SSL));
'''
with Firefox(folder) as browser:
    browser._call("Marionette:SetContext", value="chrome")
    wait_until(lambda: browser.run(TRUSTED), "Firefox trusts the authority")
    asked = [f"return Services.prefs.{call}('dom.push.serverURL')" for call in ("getStringPref", "prefIsLocked")]
    print(json.dumps([browser.run(each) for each in asked]))
"""
OVER_ETC = 'mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" && ' \
    'mount -t overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" none /etc && shift && exec "$@"'


@pytest.mark.skipif(shutil.which("firefox-esr") is None, reason="firefox-esr is not installed")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount another /etc")
def test_firefox_takes_the_policy_of_the_page(certificates, tmp_path):
    [policies] = blocks(PAGE, "json")
    for name in ("etc", "firefox"):
        (tmp_path / name).mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", OVER_ETC, "sh", str(tmp_path / "etc"), sys.executable, "-c", IN_A_MACHINE,
         str(tmp_path / "firefox"), str(certificates.ca), policies],
        env=os.environ | {"PYTHONPATH": str(HERE)}, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["wss://push.example:5228/", True]
