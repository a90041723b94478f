import 'dart:math';

import 'errors.dart';
import 'json.dart';
import 'notification.dart';
import 'options.dart';
import 'protocol.dart';
import 'requests.dart';

/// The calls that an app makes of the agent. They wait for the answer, over several connections if need be.
abstract class AgentCalls {
  /// The protocol that the calls speak.
  AgentProtocol get protocol;

  /// Writes what the protocol has to say.
  void flush();

  /// The device token; null while there is none.
  String? get token => protocol.token;

  /// The state of the app; null before the first connection.
  AppState? get state => protocol.state;

  /// The ids that the app has handled and the agent has not confirmed.
  List<int> get unconfirmed => protocol.unconfirmed;

  // Permissions and the device token

  /// Asks the person for permission, once. The options are a sum of the bits of `AuthorizationOption`.
  Future<Authorization> requestAuthorization({
    int options = AuthorizationOption.alert | AuthorizationOption.sound | AuthorizationOption.badge,
  }) async {
    final answer = await _ask(<String, Object?>{'type': 'requestAuthorization', 'options': options});
    return Authorization(isGranted: member<bool>(answer, 'granted'), reason: member<String?>(answer, 'reason'));
  }

  /// Returns what the app may do, by the members of `UNNotificationSettings`: 0 not supported, 1 disabled, 2 enabled.
  Future<JsonObject> settings() async {
    final answer = await _ask(<String, Object?>{'type': 'getSettings'});
    return <String, Object?>{...answer}..removeWhere((name, value) => name == 'type' || name == 'request');
  }

  /// Returns the device token. It is asked for again on each connection.
  Future<String> register() async {
    final answer = protocol.register();
    flush();
    return member<String>(await answer, 'token');
  }

  /// Ends the device token.
  Future<void> unregister() async {
    final answer = protocol.unregister();
    flush();
    await answer;
  }

  // The notification centre

  /// Shows a notification, at once or when its trigger fires.
  Future<void> add(NotificationRequest request) async {
    await _center('add', <String, Object?>{'notification': request.toJson()});
  }

  /// Returns the requests that have not fired.
  Future<List<NotificationRequest>> pending() async {
    final answer = await _center('pending');
    return <NotificationRequest>[
      for (final request in members<JsonObject>(answer, 'requests')) NotificationRequest.fromJson(request),
    ];
  }

  /// Removes requests that have not fired: those of the identifiers, or all.
  Future<void> removePending({List<String>? identifiers}) async {
    await _center('removePending', <String, Object?>{'identifiers': identifiers});
  }

  /// Returns the notifications in the list.
  Future<List<DeliveredNotification>> delivered() async {
    final answer = await _center('delivered');
    return <DeliveredNotification>[
      for (final one in members<JsonObject>(answer, 'notifications')) DeliveredNotification.fromJson(one),
    ];
  }

  /// Removes notifications from the list: those of the identifiers, or all.
  Future<void> removeDelivered({List<String>? identifiers}) async {
    await _center('removeDelivered', <String, Object?>{'identifiers': identifiers});
  }

  /// Adds categories; those of the same identifier are replaced. An empty list removes all.
  Future<void> setCategories(List<NotificationCategory> categories) async {
    await _center('setCategories', <String, Object?>{
      'categories': <JsonObject>[for (final category in categories) category.toJson()],
    });
  }

  /// Returns the app's categories.
  Future<List<NotificationCategory>> categories() async {
    final answer = await _center('categories');
    return <NotificationCategory>[
      for (final category in members<JsonObject>(answer, 'categories')) NotificationCategory.fromJson(category),
    ];
  }

  /// Sets the number on the app's icon; 0 removes it.
  Future<void> setBadge(int badge) async {
    if (badge < 0) throw invalid('setBadge: the number must not be negative: $badge');
    await _center('setBadge', <String, Object?>{'badge': badge});
  }

  /// Returns the number on the app's icon.
  Future<int> badge() async => member<int>(await _center('badge'), 'badge');

  // Addresses and files

  /// Has an address opened, or as a trial examined. It is not repeated on another connection.
  Future<Opening> openUrl(String url, {bool isTrial = false}) async {
    final message = <String, Object?>{'type': 'open', 'url': url, 'isTrial': isTrial ? true : null};
    final answer = await _ask(message, isOnce: true);
    return Opening(member<String>(answer, 'outcome'), message: member<String?>(answer, 'message'));
  }

  /// Has the agent fetch a file for this service extension. Returns its path.
  Future<String> fetch(String url, {String? typeHint, num? spread}) async {
    final answer =
        await _ask(<String, Object?>{'type': 'fetch', 'url': url, 'typeHint': typeHint, 'spread': spread});
    final path = member<String?>(answer, 'path');
    if (path != null) return path;
    throw AldabaError(member<String>(answer, 'reason'), member<String>(answer, 'message'),
        status: member<int?>(answer, 'status'));
  }

  // The direct channel

  /// Lets data messages come.
  void openChannel() {
    protocol.wantChannel(true);
    flush();
  }

  /// Lets no data message come any more.
  void closeChannel() {
    protocol.wantChannel(false);
    flush();
  }

  /// Sends a message to the app's provider. Returns its id once the agent has stored it.
  Future<String> send(UpstreamMessage message) async {
    if (message.to.isEmpty) throw invalid('send: the receiver must not be empty');
    final id = message.id ?? randomName();
    await _channel('send', <String, Object?>{
      'draft': <String, Object?>{
        'id': id,
        'to': message.to,
        'data': message.data,
        'timeToLive': message.timeToLive,
      },
    });
    return id;
  }

  /// Has the app join a topic.
  Future<void> subscribe(String topic) => _changeTopic(topic, joins: true);

  /// Has the app leave a topic.
  Future<void> unsubscribe(String topic) => _changeTopic(topic, joins: false);

  Future<void> _changeTopic(String topic, {required bool joins}) async {
    if (topic.isEmpty) throw invalid('the topic must not be empty');
    await _channel('topic', <String, Object?>{'topic': topic, 'joins': joins});
  }

  /// Reports that the app has entered a state by itself.
  void setState(AppState state) {
    protocol.enter(state);
    flush();
  }

  Future<JsonObject> _ask(JsonObject message, {bool isOnce = false}) {
    final answer = protocol.ask(message, isOnce: isOnce);
    flush();
    return answer;
  }

  Future<JsonObject> _center(String command, [JsonObject members = const <String, Object?>{}]) async {
    final answer = await _ask(<String, Object?>{'type': 'center', 'command': command, ...members});
    if (answer['answer'] == 'failed') {
      throw AldabaError(member<Object>(answer, 'code'), member<String>(answer, 'message'));
    }
    return answer;
  }

  Future<void> _channel(String command, JsonObject members) async {
    await _ask(<String, Object?>{'type': 'channel', 'command': command, ...members});
  }
}

/// Returns a random name of 32 hexadecimal digits.
String randomName() {
  final random = Random.secure();
  return <String>[for (var i = 0; i < 16; i++) random.nextInt(256).toRadixString(16).padLeft(2, '0')].join();
}
