"""PyFCM: a notification with data for one device, one to a topic, and one for a device that is gone."""

from pyfcm import FCMNotification
from pyfcm.errors import FCMError

fcm = FCMNotification(service_account_file="service-account.json", project_id="my-app-12345")
sent = fcm.notify(
    fcm_token="pyfcm-device:APA91bCCC", notification_title="one", notification_body="by PyFCM", data_payload={"order": "17"})
print(sent["name"])
print(fcm.notify(topic_name="news", notification_title="two")["name"])
try:
    fcm.notify(fcm_token="0" * 60 + "0410", notification_title="three")
except FCMError as error:
    print(type(error).__name__)
