"""Providers with certificates, from the first request for one to the end of the last: openssl, curl, aioapns, h2."""

import asyncio
import datetime
import json
import re
import ssl
from urllib.parse import urlsplit

import pytest
from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol

from course import Course, run
from h2_client import H2Client, verified_context
from mcs_client import Identity
from own_server import TEAM, OwnServer
from waiting import wait_for_lines, wait_until

BODY = b'{"aps":{"alert":"by certificate"}}'


class Sender(H2Client):
    """An HTTP/2 connection with a client certificate."""

    def __init__(self, address, ca, certificate, **options):
        super().__init__(address, ca, certificate=certificate, **options)

    def post(self, token, *headers):
        answer = self.request("POST", f"/3/device/{token}", list(headers), BODY)
        return answer.status, answer.reason


@pytest.fixture
def course(path, tmp_path):
    return Course(tmp_path, path["data"])


def curl(path, certificate, *flags, token=None):
    done = run(
        "curl", "--http2", "--silent", "--show-error", "--include", "--cacert", path["ca"], "--cert", certificate,
        *flags, "--data", BODY.decode(), f"{path['apns']}/3/device/{token or path['deviceToken']}")
    head, _, body = done.stdout.replace("\r\n", "\n").partition("\n\n")
    return int(head.split()[1]), re.search(r"(?m)^apns-id: ([\w-]+)", head)[1], json.loads(body) if body else {}


# --- the course's own way ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ciphers", [
    pytest.param((), id="new ciphers"), pytest.param(("-legacy",), id="RC2-40 and 3DES"),
])
def test_from_the_request_to_the_device(path, course, ciphers):
    course.sign(path["topic"])
    course.export("push", *ciphers)
    certificate = course.pem("push", *ciphers)
    status, apns_id, _ = curl(path, certificate)
    assert status == 200
    wait_for_lines(path["appLog"], lambda lines: apns_id in lines, f"the app was handed {apns_id}")


def test_old_ciphers_are_what_a_keychain_used(path, course):
    course.sign(path["topic"])
    course.export("push", "-legacy")
    told = course.openssl("pkcs12", "-in", "push.p12", "-info", "-noout", "-legacy", "-passin", "pass:course")
    assert "pbeWithSHA1And40BitRC2-CBC" in told.stderr and "pbeWithSHA1And3-KeyTripleDES-CBC" in told.stderr


def test_an_elliptic_key_is_as_good(path, course):
    certificate, _ = course.certificate(path["topic"], key="ec")
    assert curl(path, certificate)[0] == 200


def test_subject_and_extensions_are_apple_s(path, course):
    course.sign(path["topic"], "--environment", "both", "--voip", "--complication")
    topic = path["topic"]
    text = course.openssl("x509", "-inform", "der", "-in", "push.cer", "-noout", "-text", "-nameopt", "RFC2253").stdout
    assert f"UID={topic}" in text and f"CN=Apple Push Services: {topic}" in text and f"OU={path['teamId']}" in text
    for extension in ("3.1", "3.2", "3.4", "3.6"):
        assert f"1.2.840.113635.100.6.{extension}" in text
    course.openssl("x509", "-inform", "der", "-in", "push.cer", "-out", "push.crt")
    parsed = course.openssl("asn1parse", "-in", "push.crt").stdout
    at = re.search(r"100\.6\.3\.6\n +(\d+):.*OCTET STRING", parsed)[1]
    strings = re.findall(
        r"UTF8STRING +:(\S+)", course.openssl("asn1parse", "-in", "push.crt", "-strparse", at).stdout)
    assert strings == [topic, "app", f"{topic}.voip", "voip", f"{topic}.complication", "complication"]
    authority = f"{path['data']}/certificates/providers/ca.pem"
    course.openssl("verify", "-x509_strict", "-purpose", "sslclient", "-CAfile", authority, "push.crt")


@pytest.mark.parametrize("environment, name", [
    ("sandbox", "Apple Development IOS Push Services: "), ("production", "Apple Push Services: "),
    ("both", "Apple Push Services: ")])
def test_names_by_environment(path, course, environment, name):
    told = course.sign(path["topic"], "--environment", environment)
    assert told["commonName"] == name + path["topic"]
    assert told["environments"] == (["sandbox", "production"] if environment == "both" else [environment])


def test_our_own_command_sends_with_a_certificate(path, course):
    certificate, _ = course.certificate(path["topic"])
    told = course.told("send", "--certificate", certificate, "--token", path["deviceToken"], "--title", "x")
    assert told["status"] == 200
    for wrong, said in (("push.key", "--p12 takes the .p12"), ("missing.pem", "there is no file")):
        done = course.aldaba(
            "send", "--certificate", wrong, "--token", path["deviceToken"], "--title", "x", check=False)
        assert done.returncode == 3 and said in done.stderr and wrong in done.stderr


@pytest.mark.parametrize("ciphers", [[], ["-legacy"]])
def test_our_own_command_reads_the_file_of_a_keychain(path, course, tmp_path, ciphers):
    course.sign(path["topic"])
    course.export("push", *ciphers)
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("course\n")
    passphrase.chmod(0o600)
    arguments = ["send", "--p12", "push.p12", "--token", path["deviceToken"], "--title", "x"]
    assert course.told(*arguments, "--passphrase-file", passphrase)["status"] == 200
    passphrase.write_text("another")
    done = course.aldaba(*arguments, "--passphrase-file", passphrase, check=False)
    assert done.returncode == 3 and "the passphrase is wrong" in done.stderr and "another" not in done.stderr


async def send_by_aioapns(path, certificate, requests):
    """Sends all at once; the library takes the topic from the certificate's UID."""
    address = urlsplit(path["apns"])
    context = ssl.create_default_context(cafile=path["ca"])
    context.load_cert_chain(certificate)
    client = APNs(client_cert=str(certificate), use_sandbox=True, ssl_context=context)
    host = {"APNS_SERVER": address.hostname, "APNS_PORT": address.port}
    client.pool.protocol_class = type("Here", (APNsDevelopmentClientProtocol,), host)
    try:
        return await asyncio.gather(*(client.send_notification(request) for request in requests))
    finally:
        client.pool.close()


def test_aioapns_sends_with_a_certificate(path, course):
    certificate, _ = course.certificate(path["topic"])
    requests = [
        NotificationRequest(
            device_token=path["deviceToken"], message={"aps": {"alert": f"{number}"}}, push_type=PushType.ALERT)
        for number in range(50)]
    results = asyncio.run(send_by_aioapns(path, certificate, requests))
    assert {(result.status, result.description) for result in results} == {("200", None)}
    sent = {request.notification_id for request in requests}
    wait_for_lines(path["appLog"], lambda lines: sent <= set(lines), "the app was handed all of them")


# --- what a certificate is for ----------------------------------------------------------------------------------


def test_one_topic_is_implied_and_others_are_refused(path, course):
    certificate, _ = course.certificate(path["topic"])
    with Sender(path["apns"], path["ca"], certificate) as sender:
        token = path["deviceToken"]
        assert sender.post(token) == (200, None)
        assert sender.post(token, ("apns-topic", path["topic"])) == (200, None)
        assert sender.post(token, ("apns-topic", "com.example.other")) == (400, "TopicDisallowed")
        assert sender.post(
            token, ("apns-topic", path["topic"] + ".voip"), ("apns-push-type", "voip")) == (400, "TopicDisallowed")


def test_several_topics_imply_none(path, course):
    certificate, _ = course.certificate(path["topic"], "--voip")
    with Sender(path["apns"], path["ca"], certificate) as sender:
        token = path["deviceToken"]
        assert sender.post(token) == (400, "MissingTopic")
        assert sender.post(
            token, ("apns-topic", path["topic"] + ".voip"), ("apns-push-type", "voip")) == (200, None)
        assert sender.post(
            token, ("apns-topic", path["topic"] + ".push-type.liveactivity"),
            ("apns-push-type", "liveactivity")) == (400, "TopicDisallowed")


def test_the_environments_are_kept_apart(path, course):
    production, _ = course.certificate(path["topic"], "--environment", "production", name="production")
    both, _ = course.certificate(path["topic"], "--environment", "both", name="both")
    status, _, body = curl(path, production)
    assert (status, body) == (403, {"reason": "BadCertificateEnvironment"})
    assert curl(path, both)[0] == 200


def test_with_a_token_beside_it_the_certificate_decides(path, course, provider):
    right = f"authorization: bearer {provider.key.token()}"
    good, _ = course.certificate(path["topic"], name="good")
    wrong, _ = course.certificate(path["topic"], "--environment", "production", name="wrong")
    assert curl(path, good, "--header", "authorization: bearer nonsense")[0] == 200
    status, _, body = curl(path, wrong, "--header", right, "--header", f"apns-topic: {path['topic']}")
    assert (status, body) == (403, {"reason": "BadCertificateEnvironment"})


def test_a_certificate_that_nobody_knows_is_refused_in_words(path, course):
    course.openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "own.pem", "-out", "own.crt", "-subj",
        f"/UID={path['topic']}/CN=Apple Push Services: {path['topic']}", "-addext",
        "1.2.840.113635.100.6.3.1=DER:05:00")
    pem = course.folder / "own.pem"
    pem.write_text(pem.read_text() + (course.folder / "own.crt").read_text())
    status, _, body = curl(path, pem)
    assert (status, body) == (403, {"reason": "BadCertificate"})


def test_a_certificate_without_its_key_does_not_get_through_the_handshake(path, course):
    course.certificate(path["topic"])
    course.request("other")
    context = verified_context(path["ca"])
    with pytest.raises(ssl.SSLError):
        context.load_cert_chain(course.folder / "push.crt", course.folder / "other.key")


def test_a_resumed_session_is_as_its_first_connection(path, course):
    certificate, told = course.certificate(path["topic"])
    with Sender(path["apns"], path["ca"], certificate) as first:
        assert first.post(path["deviceToken"]) == (200, None)
        session = first.tls_session
    with Sender(path["apns"], path["ca"], certificate, session=session) as second:
        assert second.is_resumed
        assert second.post(path["deviceToken"]) == (200, None)
    course.aldaba("certificate", "revoke", told["certificateId"])
    with Sender(path["apns"], path["ca"], certificate, session=session) as third:
        assert third.is_resumed
        assert third.post(path["deviceToken"]) == (403, "BadCertificate")


def test_a_client_over_TLS_1_2_too(path, course):
    certificate, _ = course.certificate(path["topic"])
    assert curl(path, certificate, "--tls-max", "1.2")[0] == 200


# --- its end ----------------------------------------------------------------------------------------------------


def test_a_revocation_counts_at_the_next_request_of_an_open_connection(path, course):
    certificate, told = course.certificate(path["topic"], name="first")
    other, _ = course.certificate(path["topic"], name="second")
    with Sender(path["apns"], path["ca"], certificate) as one, Sender(path["apns"], path["ca"], other) as two:
        assert one.post(path["deviceToken"]) == (200, None)
        assert two.post(path["deviceToken"]) == (200, None)
        course.aldaba("certificate", "revoke", told["certificateId"])
        assert one.post(path["deviceToken"]) == (403, "BadCertificate")
        assert two.post(path["deviceToken"]) == (200, None)
    assert curl(path, certificate)[0] == 403
    assert course.told("certificate", "show", told["certificateId"])["state"] == "revoked"
    again = course.aldaba("certificate", "revoke", told["certificateId"], check=False)
    assert again.returncode == 3 and "was revoked before" in again.stderr


def test_an_ended_certificate_is_refused_though_its_connection_is_open(path, course):
    """The authority is the test's own: nobody else signs for seconds only."""
    authority = Authority(course)
    course.aldaba("certificate", "import-ca", "team.crt", "--team", path["teamId"])
    end = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(seconds=6)
    certificate = authority.sign(path["topic"], end=end)
    with Sender(path["apns"], path["ca"], certificate) as sender:
        assert sender.post(path["deviceToken"]) == (200, None)
        answers = []

        def is_refused():
            answers.append(sender.post(path["deviceToken"]))
            return answers[-1] != (200, None)

        wait_until(is_refused, "the certificate has ended", seconds=20)
        assert answers[-1] == (403, "BadCertificate")
        assert datetime.datetime.now(datetime.timezone.utc) >= end


def test_a_renewed_certificate_is_for_the_same_key(path, course):
    _, told = course.certificate(path["topic"], "--voip")
    renewed = course.told("certificate", "renew", told["certificateId"], "--output", "renewed.cer", "--days", 30)
    assert renewed["certificateId"] != told["certificateId"]
    assert (renewed["topics"], renewed["environments"]) == (told["topics"], told["environments"])
    course.aldaba("certificate", "revoke", told["certificateId"])
    course.openssl("x509", "-inform", "der", "-in", "renewed.cer", "-out", "renewed.crt")
    both = (course.folder / "renewed.crt").read_text() + (course.folder / "push.key").read_text()
    (course.folder / "renewed.pem").write_text(both)
    status, _, _ = curl(path, course.folder / "renewed.pem", "--header", f"apns-topic: {path['topic']}")
    assert status == 200


# --- authorities of a team's own --------------------------------------------------------------------------------


class Authority:
    """An authority made by openssl: team.key, team.crt."""

    def __init__(self, course, name="team"):
        self.course, self.name = course, name
        course.openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.crt",
            "-days", "30", "-subj", f"/CN=The authority {name}", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign")

    def sign(self, topic, name="leaf", end=None, environment="3.1"):
        """NAME.pem, signed with Apple's subject and extensions by openssl itself."""
        folder = self.course.folder
        (folder / "ca.cnf").write_text(
            "[ca]\ndefault_ca=it\n[it]\nnew_certs_dir=.\ndatabase=index.txt\nserial=serial\ndefault_md=sha256\n"
            "policy=any\nunique_subject=no\nx509_extensions=apple\n[any]\nUID=optional\ncommonName=optional\n"
            f"[apple]\nbasicConstraints=critical,CA:FALSE\n1.2.840.113635.100.6.{environment}=DER:05:00\n")
        (folder / "index.txt").touch()
        if not (folder / "serial").exists():
            (folder / "serial").write_text("01\n")
        self.course.openssl(
            "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
            f"/UID={topic}/CN=Apple Development IOS Push Services: {topic}")
        end = end or datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=3)
        self.course.openssl(
            "ca", "-batch", "-config", "ca.cnf", "-cert", f"{self.name}.crt", "-keyfile", f"{self.name}.key",
            "-in", f"{name}.csr", "-out", f"{name}.crt", "-notext", "-enddate", end.strftime("%Y%m%d%H%M%SZ"))
        (folder / f"{name}.pem").write_text((folder / f"{name}.crt").read_text() + (folder / f"{name}.key").read_text())
        return folder / f"{name}.pem"


def test_an_imported_authority_vouches_for_its_team_alone(path, course):
    authority = Authority(course)
    certificate = authority.sign(path["topic"])
    assert curl(path, certificate)[0] == 403
    other = course.told("certificate", "import-ca", "team.crt", "--team", "OTHERTEAM1")
    status, _, body = curl(path, certificate)
    assert (status, body) == (400, {"reason": "TopicDisallowed"}), "another team's authority"
    course.aldaba("certificate", "revoke-ca", other["authorityId"])
    mine = course.told("certificate", "import-ca", "team.crt", "--team", path["teamId"])
    assert mine["authorityId"] in {each["authorityId"] for each in course.told("certificate", "list-ca")}
    assert curl(path, certificate)[0] == 200
    second = authority.sign(path["topic"], name="second")
    course.aldaba("certificate", "revoke", "leaf.crt")
    assert curl(path, certificate)[0] == 403
    assert curl(path, second)[0] == 200
    course.aldaba("certificate", "revoke-ca", mine["authorityId"])
    assert curl(path, second)[0] == 403


def test_a_foreign_authority_signs_by_our_command(path, course):
    Authority(course)
    certificate, _ = course.certificate(path["topic"], "--ca", "team.crt", "--ca-key", "team.key")
    assert curl(path, certificate)[0] == 200


def test_one_certificate_from_elsewhere_can_be_imported(path, course):
    certificate = Authority(course).sign(path["topic"])
    assert curl(path, certificate)[0] == 403
    told = course.told("certificate", "import", certificate)
    assert curl(path, certificate)[0] == 200
    again = course.aldaba("certificate", "import", certificate, check=False)
    assert again.returncode == 1 and told["certificateId"] in again.stderr


# --- what cannot be -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words, said", [
    (("certificate", "sign", "push.csr", "--app", "com.example.nobody"), "aldaba app create com.example.nobody"),
    (("certificate", "sign", "missing.csr", "--app", "com.example.todo"), "there is no such file"),
    (("certificate", "sign", "push.key", "--app", "com.example.todo"), "it holds no CERTIFICATE REQUEST, but"),
    (("certificate", "sign", "push.csr", "--app", "com.example.todo", "--environment", "staging"), "production or both"),
    (("certificate", "sign", "push.csr", "--app", "com.example.todo", "--days", "0"), "--days"),
    (("certificate", "import", "push.csr"), "it holds no CERTIFICATE"),
    (("certificate", "import-ca", "team.crt", "--team", "x"), "ten characters"),
    (("certificate", "show", "NOSUCHCERT"), "aldaba certificate list"),
    (("certificate", "revoke", "NOSUCHCERT"), "aldaba certificate list"),
    (("certificate", "renew", "NOSUCHCERT"), "aldaba certificate list"),
    (("certificate", "revoke-ca", "NOSUCHONE1"), "aldaba certificate list-ca"),
    (("app", "enable", "com.example.todo", "camera"), "the one there is is push"),
    (("app", "enable", "com.example.nobody", "push"), "aldaba app create"),
    (("team", "show", "NOSUCHTEAM"), "aldaba team list"),
    (("environment", "show", "staging"), "sandbox and production"),
    (("key", "show", "NOSUCHKEY0"), "aldaba key list"),
    (("key", "download", "NOSUCHKEY0"), "no private half"),
])
def test_what_is_wrong_is_said_with_what_would_be_right(path, course, words, said):
    course.request()
    course.openssl(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "team.key", "-out", "team.crt", "-subj", "/CN=x")
    done = course.aldaba(*words, check=False)
    assert done.returncode == 3, (done.returncode, done.stderr)
    assert said in done.stderr and done.stdout == ""


# --- in production ------------------------------------------------------------------------------------------------


def test_a_production_server_keeps_its_own_trust(tmp_path):
    """Signing for providers there changes nothing of whom commands and providers trust as the server."""
    server = OwnServer(tmp_path, "test_provider_certificates")
    topic = server.add_app()
    server.key()
    with server:
        course = Course(tmp_path, server.data)
        certificate, told = course.certificate(topic, "--environment", "production")
        sandbox, _ = course.certificate(topic, name="sandbox")
        control = server.control()
        identity = Identity(*control.enrol())
        token = control.token((identity.device, identity.secret), topic, TEAM, "production")
        assert not (server.data / "certificates" / "ca.pem").exists()
        assert curl(server.ready, certificate, token=token)[0] == 200
        status, _, body = curl(server.ready, sandbox, token=token)
        assert (status, body) == (403, {"reason": "BadCertificateEnvironment"})
        course.aldaba("certificate", "revoke", told["certificateId"])
        status, apns_id, body = curl(server.ready, certificate, token=token)
        assert (status, body) == (403, {"reason": "BadCertificate"})
        code, timelines = control.request("GET", f"/v1/notifications/{apns_id}")
        assert code == 200 and "was revoked at" in json.dumps(json.loads(timelines)), "the team's timeline says why"
        server.stop()
        server.start()
        assert curl(server.ready, certificate, token=token)[0] == 403, "also after the server began anew"
        assert any("a provider's credential was refused: BadCertificate" in line for line in server.log_lines())
