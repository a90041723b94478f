"""azure-notification-hub-unofficial: an installation, and a send to its tag. The argument is the connection string."""

import sys

from azure_notification_hub.client import NotificationHubsClient
from azure_notification_hub.notifications import create_apple_body, create_apple_notification

hub = NotificationHubsClient(sys.argv[1], "shop-hub")
hub.create_or_update_installation({
    "installationId": "one", "platform": "apns", "pushChannel": "ab" * 32, "tags": ["orders"]})
print(hub.get_installation("one")["tags"])
sent = hub.send_notification(create_apple_notification(create_apple_body(alert="by a hub")), tag_expression="orders")
print(bool(sent["notificationId"]))
hub.close()
