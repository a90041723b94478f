"""Credentials that say which server they were made for, with requests whose Host names another one."""

import time

import jwt
import pytest
import requests
from azure_notification_hub.auth import create_sas_token

from test_fcm_errors import assertion_of_demo
from test_web_push import Browser, point, text

ELSEWHERE = "elsewhere.example"


@pytest.fixture(params=[None, ELSEWHERE])
def host(request):
    """The field Host: the server's own, or one that somebody wrote."""
    return {"host": request.param} if request.param else {}


def secured(path):
    return "https:" + path["hub"].split("Endpoint=sb:")[1].split("/;")[0]


def test_an_assertion_is_for_the_server_whatever_the_host(path, host):
    def status(address):
        assertion = assertion_of_demo(path, aud=f"{address}/token")
        return requests.post(
            f"{secured(path)}/token", headers=host, verify=path["ca"], timeout=10, data={
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}).status_code

    assert (status(secured(path)), status(f"https://{ELSEWHERE}")) == (200, 400)


def test_a_sender_s_credential_is_for_the_server_whatever_the_host(path, host):
    browser = Browser(path)

    def status(address):
        claims = {"sub": "mailto:a@example.org", "aud": address, "exp": int(time.time()) + 60}
        signed = jwt.encode(claims, browser.vapid.private_key, algorithm="ES256")
        key = text(point(browser.vapid.private_key))
        return requests.post(
            f"{secured(path)}/wp/{browser.token}", verify=path["ca"], timeout=10,
            headers={"ttl": "0", "authorization": f"vapid t={signed}, k={key}"} | host).status_code

    assert (status(secured(path)), status(f"https://{ELSEWHERE}")) == (201, 403)


def test_a_signature_is_for_the_server_whatever_the_host(path, host):
    name, key = "DefaultFullSharedAccessSignature", path["hub"].split("SharedAccessKey=")[1]

    def status(address):
        signature = create_sas_token(name, key, f"{address}/")
        return requests.get(
            f"{secured(path)}/{path['hubName']}/registrations?api-version=2020-06", verify=path["ca"], timeout=10,
            headers={"authorization": signature} | host).status_code

    assert (status(secured(path)), status(f"https://{ELSEWHERE}")) == (200, 401)
