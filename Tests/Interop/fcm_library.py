"""PyPI's firebase-admin against a running server: nothing of it is changed but its URLs."""

import contextlib

import firebase_admin
from firebase_admin import credentials, messaging
from firebase_admin.messaging import _MessagingService

GOOGLE = _MessagingService.FCM_URL
# google-auth asks Google by itself in which regions an account may work; it gets no further than this machine.
NOWHERE = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}


@contextlib.contextmanager
def firebase_app(monkeypatch, fcm, service_account, name="test", **options):
    """An app of firebase-admin whose messages go to `fcm`."""
    with own_addresses(monkeypatch):
        monkeypatch.setattr(_MessagingService, "FCM_URL", GOOGLE.replace("https://fcm.googleapis.com", fcm))
        monkeypatch.setattr(_MessagingService, "IID_URL", fcm)
        app = firebase_admin.initialize_app(credentials.Certificate(service_account), options, name=name)
        try:
            # The address of topics is no constant of its class.
            service = messaging._get_messaging_service(app)
            service._fcm_topic_url = service._fcm_topic_url.replace("https://fcm.googleapis.com", fcm)
            yield app
        finally:
            firebase_admin.delete_app(app)


@contextlib.contextmanager
def own_addresses(monkeypatch):
    """Keeps the library on this machine; its address afterwards is Google's again."""
    for variable, value in NOWHERE.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(_MessagingService, "FCM_URL", GOOGLE)
    yield


def internal_id(name):
    """The internal id in `projects/…/messages/ID`."""
    return name.rsplit("/", 1)[1]
