"""Pushes that show nothing."""


def test_an_iphone_is_woken_without_an_alert(shop, iphone, received):
    assert shop.orders_changed("ana") == 1
    entry = received.wait_for(token=iphone, state="acked")
    assert entry.payload == {"aps": {"content-available": 1}, "reload": "orders"}
    assert (entry.headers["apns-push-type"], entry.headers["apns-priority"]) == ("background", "5")


def test_an_android_phone_gets_data_alone(shop, android, received):
    assert shop.orders_changed("ana") == 1
    message = received.wait_for(token=android, state="acked").payload["message"]
    assert message["data"] == {"reload": "orders"} and "notification" not in message
    assert message["android"] == {"priority": "normal"}


def test_the_number_at_the_icon_is_set_on_iphones_alone(shop, iphone, android, received):
    assert shop.basket_count("ana", 3) == 1
    received.wait_for(token=iphone, match={"aps.badge": 3})
    assert len(received.all()) == 1
