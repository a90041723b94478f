import 'content.dart';
import 'errors.dart';
import 'json.dart';
import 'notification.dart';
import 'options.dart';

/// An event that the agent, or the client itself, tells the app.
abstract class AgentEvent {
  const AgentEvent();

  /// The name of the event in the protocol's vectors.
  String get name;

  /// The value of the event in the protocol's vectors.
  JsonObject get value;
}

/// An event that the agent tells again until the app's answer is stored.
abstract class AnsweredEvent extends AgentEvent {
  const AnsweredEvent();

  /// The id of the notification, response, message, deletion or end.
  int get id;

  /// The name of the answer.
  String get answer;

  /// Whether the agent confirms the answer.
  bool get isConfirmed => true;

  /// Returns the answer to the agent; the outcome is that of a notification.
  JsonObject answerWith(JsonObject outcome);
}

/// A connection was welcomed.
class ConnectedEvent extends AgentEvent {
  const ConnectedEvent(this.welcome);
  final Welcome welcome;
  @override
  String get name => 'connected';
  @override
  JsonObject get value => welcome.toJson();
}

/// A connection has ended; the client connects again.
class DisconnectedEvent extends AgentEvent {
  const DisconnectedEvent(this.reason);
  final AldabaError reason;
  @override
  String get name => 'disconnected';
  @override
  JsonObject get value => <String, Object?>{'code': reason.code, 'message': reason.message};
}

/// The client was refused, or has given up; it does not connect again.
class ClosedEvent extends AgentEvent {
  const ClosedEvent(this.reason);
  final AldabaError reason;
  @override
  String get name => 'closed';
  @override
  JsonObject get value => <String, Object?>{'code': reason.code, 'message': reason.message};
}

/// A handler has failed, or the agent sent what cannot be read.
class ErrorEvent extends AgentEvent {
  const ErrorEvent(this.error, this.stackTrace);
  final Object error;
  final StackTrace stackTrace;
  @override
  String get name => 'error';
  @override
  JsonObject get value => <String, Object?>{'message': '$error'};
}

/// A notification for the app.
class NotificationEvent extends AnsweredEvent {
  const NotificationEvent(this.kind, this.notification);
  final DeliveryKind kind;
  final DeliveredNotification notification;
  @override
  String get name => 'notification';
  @override
  JsonObject get value => <String, Object?>{'kind': kind.name, 'notification': notification};
  @override
  int get id => notification.id;
  @override
  String get answer => 'handled';
  @override
  JsonObject answerWith(JsonObject outcome) {
    return <String, Object?>{'type': 'handled', 'notification': id, ...outcome};
  }
}

/// A person's answer to a notification.
class ResponseEvent extends AnsweredEvent {
  const ResponseEvent(this.response);
  final NotificationResponse response;
  @override
  String get name => 'response';
  @override
  JsonObject get value => response.toJson();
  @override
  int get id => response.id;
  @override
  String get answer => 'responseHandled';
  @override
  JsonObject answerWith(JsonObject outcome) => <String, Object?>{'type': 'responseHandled', 'response': id};
}

/// A data message of the direct channel.
class MessageEvent extends AnsweredEvent {
  const MessageEvent(this.notification);
  final DeliveredNotification notification;
  @override
  String get name => 'message';
  @override
  JsonObject get value => <String, Object?>{'notification': notification};
  @override
  int get id => notification.id;
  @override
  String get answer => 'taken';
  @override
  JsonObject answerWith(JsonObject outcome) {
    return <String, Object?>{'type': 'channel', 'command': 'taken', 'message': id};
  }
}

/// Messages were deleted on the server before they came.
class MessagesDeletedEvent extends AnsweredEvent {
  const MessagesDeletedEvent(this.id, {required this.count, required this.since});
  @override
  final int id;
  final int count;

  /// The time of the first of them, in milliseconds since 1970.
  final int since;
  @override
  String get name => 'messagesDeleted';
  @override
  JsonObject get value => <String, Object?>{'count': count, 'since': since};
  @override
  String get answer => 'deletionTaken';
  @override
  bool get isConfirmed => false;
  @override
  JsonObject answerWith(JsonObject outcome) => <String, Object?>{'type': 'deletionTaken', 'deletion': id};
}

/// The end of a message that the app sent; with a code it failed.
class UpstreamEndedEvent extends AnsweredEvent {
  const UpstreamEndedEvent(this.id, {required this.message, this.code});
  @override
  final int id;

  /// The id that the app gave the message.
  final String message;
  final String? code;
  @override
  String get name => 'upstreamEnded';
  @override
  JsonObject get value => withoutNulls(<String, Object?>{'id': message, 'code': code});
  @override
  String get answer => 'endTaken';
  @override
  bool get isConfirmed => false;
  @override
  JsonObject answerWith(JsonObject outcome) {
    return <String, Object?>{'type': 'channel', 'command': 'endTaken', 'upstream': id};
  }
}

/// The device token is another one.
class TokenEvent extends AgentEvent {
  const TokenEvent(this.token);
  final String token;
  @override
  String get name => 'token';
  @override
  JsonObject get value => <String, Object?>{'token': token};
}

/// The agent has set the state of the app.
class StateEvent extends AgentEvent {
  const StateEvent(this.state);
  final AppState state;
  @override
  String get name => 'state';
  @override
  JsonObject get value => <String, Object?>{'state': state.name};
}

/// A person wants the app's own settings.
class OpenSettingsEvent extends AgentEvent {
  const OpenSettingsEvent(this.notification);
  final DeliveredNotification? notification;
  @override
  String get name => 'openSettings';
  @override
  JsonObject get value => withoutNulls(<String, Object?>{'notification': notification});
}

/// The direct channel is open as far as the server, or not.
class ChannelStateEvent extends AgentEvent {
  const ChannelStateEvent({required this.isConnected});
  final bool isConnected;
  @override
  String get name => 'channelState';
  @override
  JsonObject get value => <String, Object?>{'isConnected': isConnected};
}

/// A notification that the service extension may change.
class ExtendEvent extends AgentEvent {
  const ExtendEvent(this.notification);
  final DeliveredNotification notification;
  @override
  String get name => 'extend';
  @override
  JsonObject get value => <String, Object?>{'notification': notification};

  /// Returns the answer to the agent; without content the notification stays as it is.
  JsonObject answerWith(NotificationContent? content) {
    return withoutNulls(
        <String, Object?>{'type': 'extended', 'notification': notification.id, 'content': content?.toJson()});
  }
}

/// The time of the service extension for a notification is almost over.
class ExpireEvent extends AgentEvent {
  const ExpireEvent(this.id);
  final int id;
  @override
  String get name => 'expire';
  @override
  JsonObject get value => <String, Object?>{'notification': id};
}
