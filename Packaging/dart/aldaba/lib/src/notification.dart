import 'dart:convert';

import 'content.dart';
import 'json.dart';
import 'options.dart';

/// A notification that the agent delivered.
class DeliveredNotification {
  /// Reads a notification of the agent's JSON.
  DeliveredNotification.fromJson(this.json)
      : id = member<int>(json, 'id'),
        identifier = member<String>(json, 'identifier'),
        apnsID = member<String?>(json, 'apnsID'),
        topic = member<String>(json, 'topic'),
        date = member<int>(json, 'date'),
        payload = member<String>(json, 'payload'),
        content = optionalObject(json, 'content', NotificationContent.fromJson);

  /// The notification as the agent wrote it.
  final JsonObject json;

  /// The id, which has 64 bits. A local notification's is negative.
  final int id;

  /// The request's identifier: the collapse id of a push, else its `apns-id`.
  final String identifier;

  /// The `apns-id` of a push.
  final String? apnsID;
  final String topic;

  /// The time at which it was accepted, in milliseconds since 1970.
  final int date;

  /// The payload's JSON text; `{}` for a local notification.
  final String payload;

  /// The content where the payload does not contain all of it.
  final NotificationContent? content;

  /// Whether it came from a provider.
  bool get isRemote => id >= 0;

  /// The payload of a push; the own data of a local notification. Empty where its text is no JSON object.
  late final JsonObject userInfo = _object(isRemote ? payload : content?.userInfoText ?? '');

  /// The title that is shown, or an empty text.
  String get title => content != null ? content!.title ?? '' : _text('title');

  /// The subtitle that is shown, or an empty text.
  String get subtitle => content != null ? content!.subtitle ?? '' : _text('subtitle');

  /// The body that is shown, or an empty text.
  String get body => content != null ? content!.body ?? '' : _text('body');

  String _text(String name) {
    final Object? aps = userInfo['aps'];
    if (aps is! JsonObject) return '';
    final Object? alert = aps['alert'];
    if (alert is String) return name == 'body' ? alert : '';
    if (alert is! JsonObject) return '';
    final Object? text = alert[name];
    return text is String ? text : '';
  }

  JsonObject toJson() => json;
}

JsonObject _object(String text) {
  try {
    final Object? value = jsonDecode(text);
    return value is JsonObject ? value : <String, Object?>{};
  } on FormatException {
    return <String, Object?>{};
  }
}

/// A person's answer to a notification.
class NotificationResponse {
  /// Reads an answer of the agent's JSON.
  NotificationResponse.fromJson(JsonObject json)
      : id = member<int>(json, 'response'),
        action = member<String>(json, 'action'),
        notification = DeliveredNotification.fromJson(member<JsonObject>(json, 'notification')),
        userText = member<String?>(json, 'userText');

  /// The id, which has 64 bits.
  final int id;

  /// The identifier of the action: one of the app's own, or one of `StandardAction`.
  final String action;
  final DeliveredNotification notification;

  /// The text that the person wrote, where the action asks for one.
  final String? userText;

  /// Whether the notification itself was opened.
  bool get isOpening => action == StandardAction.open;

  /// Whether the notification was dismissed.
  bool get isDismissal => action == StandardAction.dismiss;

  JsonObject toJson() {
    return withoutNulls(<String, Object?>{
      'response': id,
      'action': action,
      'notification': notification,
      'userText': userText,
    });
  }
}

/// The agent's welcome on a connection.
class Welcome {
  /// Reads a welcome of the agent's JSON.
  Welcome.fromJson(JsonObject json)
      : state = valueNamed(AppState.values, json['state']) ?? AppState.active,
        authorization = member<int>(json, 'authorization'),
        launchNotification = optionalObject(json, 'launchNotification', DeliveredNotification.fromJson);

  final AppState state;

  /// 0 not determined, 1 denied, 2 authorized, 3 provisional, 4 ephemeral.
  final int authorization;

  /// The notification whose opening started the app.
  final DeliveredNotification? launchNotification;

  JsonObject toJson() {
    return withoutNulls(<String, Object?>{
      'state': state.name,
      'authorization': authorization,
      'launchNotification': launchNotification,
    });
  }
}

/// The answer of a person who was asked for permission.
class Authorization {
  const Authorization({required this.isGranted, this.reason});

  final bool isGranted;

  /// The reason for which nobody was asked.
  final String? reason;
}

/// The outcome of opening an address: `opened`, `own` or `refused`.
class Opening {
  const Opening(this.outcome, {this.message});

  final String outcome;
  final String? message;
}

/// A message from the app to its provider.
class UpstreamMessage {
  const UpstreamMessage({this.id, required this.to, this.data = const <String, String>{}, this.timeToLive = 86400});

  /// The id; a random one where it is left out.
  final String? id;

  /// The receiver, such as `1075884059246928@gcm.googleapis.com`.
  final String to;
  final Map<String, String> data;

  /// The seconds after which it ends.
  final int timeToLive;
}
