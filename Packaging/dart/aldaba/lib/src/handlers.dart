import 'dart:async';

import 'content.dart';
import 'errors.dart';
import 'events.dart';
import 'json.dart';
import 'notification.dart';
import 'options.dart';

/// The answer of an app to a notification.
class Outcome {
  /// Shows the notification. The options are a sum of the bits of `PresentationOption`; 0 does not show it.
  const Outcome.presented([this.options = PresentationOption.all]) : result = null;

  /// Does not show the notification.
  const Outcome.notPresented()
      : options = 0,
        result = null;

  /// The result of work in the background.
  const Outcome.background(BackgroundResult this.result) : options = null;

  final int? options;
  final BackgroundResult? result;

  /// Returns the members of the answer. Throws an error of the code `invalid` where the kind has another answer.
  JsonObject toJson(DeliveryKind kind) {
    final options = this.options;
    final result = this.result;
    if (kind.isBackground) {
      final told = result ?? (throw invalid('onNotification: the answer in the background is Outcome.background'));
      return <String, Object?>{'outcome': 'background', 'result': told.name};
    }
    if (options == null) throw invalid('onNotification: in the foreground, Outcome.background is no answer');
    if (options == 0) return <String, Object?>{'outcome': 'notPresented'};
    return <String, Object?>{'outcome': 'presented', 'options': options};
  }
}

/// The functions of an app that answer the agent. They may be asynchronous.
class AgentHandlers {
  const AgentHandlers({
    this.onNotification,
    this.onResponse,
    this.onMessage,
    this.onMessagesDeleted,
    this.onUpstreamEnded,
    this.onExtend,
    this.onExpire,
  });

  /// Answers a notification. Null shows it, or has the result `newData` in the background.
  final FutureOr<Outcome?> Function(DeliveredNotification notification, DeliveryKind kind)? onNotification;

  /// Handles a person's answer.
  final FutureOr<void> Function(NotificationResponse response)? onResponse;

  /// Handles a data message of the direct channel.
  final FutureOr<void> Function(DeliveredNotification notification)? onMessage;

  /// Handles the deletion of messages on the server.
  final FutureOr<void> Function(MessagesDeletedEvent event)? onMessagesDeleted;

  /// Handles the end of a message that the app sent.
  final FutureOr<void> Function(UpstreamEndedEvent event)? onUpstreamEnded;

  /// Returns the changed content of a service extension's notification; null leaves it as it is.
  final FutureOr<NotificationContent?> Function(DeliveredNotification notification)? onExtend;

  /// Handles that the time for the notification of an id is almost over.
  final void Function(int id)? onExpire;

  /// Runs the handler of an event. Returns the outcome, which is empty for all but notifications.
  Future<JsonObject> handle(AnsweredEvent event) async {
    if (event is NotificationEvent) return _outcome(event);
    if (event is ResponseEvent) await onResponse?.call(event.response);
    if (event is MessageEvent) await onMessage?.call(event.notification);
    if (event is MessagesDeletedEvent) await onMessagesDeleted?.call(event);
    if (event is UpstreamEndedEvent) await onUpstreamEnded?.call(event);
    return const <String, Object?>{};
  }

  Future<JsonObject> _outcome(NotificationEvent event) async {
    final handler = onNotification;
    final isBackground = event.kind.isBackground;
    if (handler == null) {
      return const Outcome.presented()._orBackground(BackgroundResult.noData, when: isBackground).toJson(event.kind);
    }
    final outcome = await handler(event.notification, event.kind) ??
        const Outcome.presented()._orBackground(BackgroundResult.newData, when: isBackground);
    return outcome.toJson(event.kind);
  }

  /// Returns the outcome of an event whose handler failed.
  JsonObject failure(AnsweredEvent event) {
    if (event is! NotificationEvent) return const <String, Object?>{};
    return const Outcome.notPresented()
        ._orBackground(BackgroundResult.failed, when: event.kind.isBackground)
        .toJson(event.kind);
  }
}

extension _Background on Outcome {
  Outcome _orBackground(BackgroundResult result, {required bool when}) => when ? Outcome.background(result) : this;
}
