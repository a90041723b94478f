"""Offers for everybody who follows a topic."""


def test_who_follows_a_topic_is_subscribed(shop, android, received):
    shop.follow("ana", "shoes")
    entry = received.wait_for(interface="fcm-topics", status=200)
    assert entry.payload == {"to": "/topics/shoes", "registration_tokens": [android]}
    assert shop.customers.devices("ana") == [("fcm", android)]


def test_an_offer_is_one_message_for_all_who_follow_the_topic(shop, android, received):
    shop.follow("ana", "shoes")
    assert shop.offer("Shoes for 20", "shoes")
    entry = received.wait_for(topic="shoes", title="Shoes for 20", status=200)
    assert "token" not in entry.payload["message"]
    assert len(received.all(interface="fcm")) == 1


def test_an_offer_for_two_topics_is_one_message_with_a_condition(shop, android, received):
    for topic in "shoes", "hats":
        shop.follow("ana", topic)
    assert shop.offer("Hats and shoes", "shoes", "hats")
    assert received.wait_for(title="Hats and shoes", status=200).condition == "'shoes' in topics || 'hats' in topics"
    assert len(received.all(interface="fcm")) == 1
