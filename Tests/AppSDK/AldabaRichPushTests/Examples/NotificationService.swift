import AldabaRichPush

final class NotificationService: RichPushService {}
