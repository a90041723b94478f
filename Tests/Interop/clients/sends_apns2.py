"""apns2: one notification, and two in a batch."""

from apns2.client import APNsClient, Notification
from apns2.credentials import TokenCredentials
from apns2.payload import Payload

credentials = TokenCredentials("AuthKey_ABC123DEFG.p8", "ABC123DEFG", "DEF123GHIJ")
client = APNsClient(credentials)
client.send_notification("ab" * 32, Payload(alert="one", sound="default", badge=1), "com.example.App")
batch = [Notification(token, Payload(alert="two")) for token in ("cd" * 32, "0" * 60 + "0410")]
for token, result in client.send_notification_batch(batch, "com.example.App").items():
    print(token[-4:], result)
