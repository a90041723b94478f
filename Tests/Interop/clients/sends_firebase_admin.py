"""firebase-admin: one message, several, one to many tokens, a topic's subscription, and a message to the topic."""

import firebase_admin
from firebase_admin import credentials, messaging

firebase_admin.initialize_app(credentials.Certificate("service-account.json"))
FIRST, SECOND, GONE = "first-device:APA91bAAA", "second-device:APA91bBBB", "0" * 60 + "0410"


def titled(title, **target):
    return messaging.Message(notification=messaging.Notification(title=title, body="by firebase-admin"), **target)


print(messaging.send(titled("one", token=FIRST)))

batch = messaging.send_each([titled("two", token=FIRST), titled("three", token=GONE)])
print(batch.success_count, batch.failure_count, type(batch.responses[1].exception).__name__)

many = messaging.send_each_for_multicast(messaging.MulticastMessage(
    [FIRST, SECOND], notification=messaging.Notification(title="four")))
print(many.success_count, many.failure_count)

subscribed = messaging.subscribe_to_topic([FIRST, SECOND], "news")
print(subscribed.success_count, subscribed.failure_count)
print(messaging.send(titled("five", topic="news")))
print(messaging.unsubscribe_from_topic([SECOND], "news").success_count)
