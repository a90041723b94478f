"""Tokens of apps that were removed: 60 zeros and 0410 stand for one."""

import pytest

GONE = "0" * 60 + "0410"
both = pytest.mark.parametrize("service", ["apns", "fcm"])


@both
def test_a_token_that_is_gone_is_forgotten(shop, received, service):
    shop.customers.add("ana", service, GONE)
    assert shop.order_confirmed("ana", 17) == 0
    assert received.wait_for(token=GONE).state == "refused"
    assert shop.customers.devices("ana") == []


@both
def test_it_is_not_used_a_second_time(shop, received, service):
    shop.customers.add("ana", service, GONE)
    shop.order_confirmed("ana", 17)
    shop.order_sent("ana", 17, "DHL")
    assert len(received.all(interface=service)) == 1


def test_the_other_phones_of_the_customer_stay(shop, iphone, android, received):
    shop.customers.add("ana", "apns", GONE)
    assert shop.order_confirmed("ana", 17) == 2
    assert shop.customers.devices("ana") == [("apns", iphone), ("fcm", android)]
