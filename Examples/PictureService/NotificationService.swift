import AldabaRichPush

@main
final class NotificationService: RichPushService {}
