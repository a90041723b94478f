"""What the shop does when a service refuses a push or does not answer."""

import pytest

TEMPORARY = {
    "apns 429": ("apns", 429, "TooManyRequests"), "apns 503": ("apns", 503, "ServiceUnavailable"),
    "fcm 429": ("fcm", 429, "QUOTA_EXCEEDED"), "fcm 503": ("fcm", 503, "UNAVAILABLE"),
}


@pytest.fixture
def phone(request, service):
    """The phone to which a service sends."""
    return request.getfixturevalue("iphone" if service == "apns" else "android")


both = pytest.mark.parametrize("service", ["apns", "fcm"])


@pytest.mark.parametrize("service, status, reason", TEMPORARY.values(), ids=TEMPORARY)
def test_it_tries_again_after_the_time_that_the_service_names(
        shop, phone, received, aldaba, pauses, service, status, reason):
    aldaba.fault(status=status, reason=reason, retry_after=7, times=2, interface=service)
    assert shop.order_confirmed("ana", 17) == 1
    assert [entry.answer.status for entry in received.all(interface=service)] == [status, status, 200]
    assert pauses == [7, 7]


@both
def test_without_a_time_it_waits_longer_each_time(shop, phone, aldaba, pauses, service):
    aldaba.fault(status=503, times=2, interface=service)
    assert shop.order_confirmed("ana", 17) == 1
    assert pauses == [2, 4]


@both
def test_it_gives_up_after_four_attempts_and_keeps_the_phone(shop, phone, received, aldaba, pauses, service):
    aldaba.fault(status=503, retry_after=600, times=0, interface=service)
    assert shop.order_confirmed("ana", 17) == 0
    assert len(received.all(interface=service)) == 4 and pauses == [60, 60, 60]
    assert shop.customers.devices("ana") == [(service, phone)]


@both
def test_it_connects_again_when_the_connection_is_cut(shop, phone, received, aldaba, pauses, service):
    aldaba.fault(action="cut", interface=service)
    assert shop.order_confirmed("ana", 17) == 1
    received.wait_for(title="Order 17", token=phone, status=200)
    assert pauses == [2]


def test_an_expired_provider_token_is_made_anew(shop, iphone, received, aldaba):
    aldaba.fault(status=403, reason="ExpiredProviderToken", interface="apns")
    assert shop.order_confirmed("ana", 17) == 1
    assert [entry.answer.status for entry in received.all()] == [403, 200]


def test_an_expired_access_token_is_fetched_anew(shop, android, received, aldaba):
    shop.order_confirmed("ana", 16)
    aldaba.fault(status=401, interface="fcm")
    assert shop.order_confirmed("ana", 17) == 1
    assert [entry.interface for entry in received.all()] == ["oauth", "fcm", "fcm", "oauth", "fcm"]


def test_what_is_wrong_with_the_request_itself_is_not_tried_again(shop, iphone, received, aldaba, pauses):
    aldaba.fault(status=400, reason="BadTopic", times=0, interface="apns")
    assert shop.order_confirmed("ana", 17) == 0
    assert len(received.all()) == 1 and pauses == [] and shop.customers.devices("ana")
