"""A shop with senders of the test's own, and a customer with one device of each kind."""

import json
import secrets

import pytest

from shop.apns import Apns
from shop.customers import Customers
from shop.fcm import Fcm
from shop.shop import Shop

NOW = 1_800_000_000


@pytest.fixture
def pauses():
    """The seconds that the senders waited between attempts; no test waits for them."""
    return []


@pytest.fixture
def shop(apns, fcm, pauses):
    by_apns = Apns(apns.team_id, apns.key_id, apns.key_file.read_text(), f"com.example.{apns.team_id}", pauses.append)
    by_fcm = Fcm(json.loads(fcm.service_account.read_text()), pauses.append)
    yield Shop(Customers(), by_apns, by_fcm, now=lambda: NOW)
    by_apns.close()
    by_fcm.close()


@pytest.fixture
def iphone(shop):
    """The token of Ana's iPhone."""
    token = secrets.token_hex(32)
    shop.customers.add("ana", "apns", token)
    return token


@pytest.fixture
def android(shop):
    """The token of Ana's Android phone."""
    token = f"{secrets.token_urlsafe(16)}:APA91b{secrets.token_urlsafe(100)}"
    shop.customers.add("ana", "fcm", token)
    return token
