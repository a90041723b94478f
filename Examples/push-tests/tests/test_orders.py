"""Alerts about orders."""

import pytest

from conftest import NOW

TELLS = {
    "confirmed": (lambda shop: shop.order_confirmed("ana", 17), "Order 17", "Thank you. We pack it today."),
    "sent": (lambda shop: shop.order_sent("ana", 17, "DHL"), "Your order was sent", "DHL has order 17."),
    "arrives": (lambda shop: shop.order_arrives("ana", 17), "Your order arrives today", "Order 17"),
}
events = pytest.mark.parametrize("tell, title, body", TELLS.values(), ids=TELLS)


@events
def test_an_iphone_shows_it(shop, iphone, received, tell, title, body):
    assert tell(shop) == 1
    entry = received.wait_for(title=title, token=iphone, state="acked")
    assert entry.body == body and entry.payload["order"] == 17
    assert entry.payload["aps"]["sound"] == "default" and entry.headers["apns-push-type"] == "alert"


@events
def test_an_android_phone_shows_it(shop, android, received, tell, title, body):
    assert tell(shop) == 1
    message = received.wait_for(title=title, token=android, state="acked").payload["message"]
    assert message["notification"] == {"title": title, "body": body}
    assert message["data"] == {"order": "17"} and message["android"]["priority"] == "high"


@events
def test_both_phones_of_a_customer_show_it(shop, iphone, android, received, tell, title, body):
    assert tell(shop) == 2
    assert {entry.token for entry in received.wait_for_count(2, title=title, state="acked")} == {iphone, android}


def test_a_customer_without_a_phone_gets_nothing(shop, received):
    assert shop.order_confirmed("bob", 18) == 0
    assert received.all() == []


def test_a_phone_that_changed_hands_is_the_new_customer_s(shop, iphone, received):
    shop.customers.add("bob", "apns", iphone)
    assert (shop.order_confirmed("ana", 17), shop.order_confirmed("bob", 18)) == (0, 1)
    assert [entry.title for entry in received.all()] == ["Order 18"]


def test_a_later_message_replaces_an_earlier_one_of_the_same_order(shop, iphone, android, received):
    shop.order_sent("ana", 17, "DHL")
    shop.order_arrives("ana", 17)
    assert [entry.headers["apns-collapse-id"] for entry in received.all(interface="apns")] == ["order-17", "order-17"]
    keys = [entry.payload["message"]["android"]["collapse_key"] for entry in received.all(interface="fcm")]
    assert keys == ["order-17", "order-17"]


def test_news_of_a_delivery_expires_with_it(shop, iphone, android, received):
    shop.order_arrives("ana", 17)
    assert received.wait_for(interface="apns").headers["apns-expiration"] == str(NOW + 14400)
    assert received.wait_for(interface="fcm", match={"message.android.ttl": "14400s"}).answer.status == 200


def test_a_title_of_any_script_arrives_as_it_is(shop, iphone, received):
    shop.order_sent("ana", 17, "日本郵便 «café» 📦")
    assert received.wait_for(token=iphone).body == "日本郵便 «café» 📦 has order 17."


def test_one_access_token_is_enough_for_many_messages(shop, android, received):
    for order in range(5):
        shop.order_confirmed("ana", order)
    assert len(received.all(interface="oauth")) == 1 and len(received.all(interface="fcm")) == 5


def test_one_connection_is_enough_for_many_notifications(shop, iphone, received):
    for order in range(5):
        shop.order_confirmed("ana", order)
    assert len({entry.connection for entry in received.all(interface="apns")}) == 1
