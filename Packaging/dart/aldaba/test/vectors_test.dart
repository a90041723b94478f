import 'dart:async';
import 'dart:convert';
import 'dart:io';

import 'package:aldaba/aldaba.dart';
import 'package:test/test.dart';

import 'conversation.dart';

/// The calls of the vectors, with the result that a vector expects.
final Map<String, Future<Object?> Function(Conversation, JsonObject)> _calls =
    <String, Future<Object?> Function(Conversation, JsonObject)>{
  'connect': (at, given) => at.connect(),
  'requestAuthorization': (at, given) async {
    final answer = await at.calls.requestAuthorization(options: given['options'] as int);
    return <String, Object?>{
      'granted': answer.isGranted,
      if (answer.reason != null) 'reason': answer.reason,
    };
  },
  'settings': (at, given) => at.calls.settings(),
  'register': (at, given) async => <String, Object?>{'token': await at.calls.register()},
  'unregister': (at, given) => at.calls.unregister(),
  'add': (at, given) => at.calls.add(NotificationRequest.fromJson(given['notification'] as JsonObject)),
  'pending': (at, given) => at.calls.pending(),
  'delivered': (at, given) => at.calls.delivered(),
  'removePending': (at, given) => at.calls.removePending(identifiers: _identifiers(given)),
  'removeDelivered': (at, given) => at.calls.removeDelivered(identifiers: _identifiers(given)),
  'setCategories': (at, given) => at.calls.setCategories(<NotificationCategory>[
        for (final category in given['categories'] as List<Object?>)
          NotificationCategory.fromJson(category as JsonObject),
      ]),
  'categories': (at, given) => at.calls.categories(),
  'setBadge': (at, given) => at.calls.setBadge(given['badge'] as int),
  'badge': (at, given) => at.calls.badge(),
  'openURL': (at, given) async {
    final answer = await at.calls.openUrl(given['url'] as String, isTrial: given['isTrial'] == true);
    return <String, Object?>{
      'outcome': answer.outcome,
      if (answer.message != null) 'message': answer.message,
    };
  },
  'send': (at, given) async {
    final draft = given['draft'] as JsonObject;
    await at.calls.send(UpstreamMessage(
      id: draft['id'] as String,
      to: draft['to'] as String,
      data: (draft['data'] as JsonObject).cast<String, String>(),
      timeToLive: draft['timeToLive'] as int,
    ));
    return null;
  },
  'topic': (at, given) {
    final topic = given['topic'] as String;
    return given['joins'] == true ? at.calls.subscribe(topic) : at.calls.unsubscribe(topic);
  },
  'fetch': (at, given) async {
    final path = await at.calls.fetch(given['url'] as String,
        typeHint: given['typeHint'] as String?, spread: given['spread'] as num?);
    return <String, Object?>{'path': path};
  },
};

/// The calls that return nothing, without waiting.
final Map<String, void Function(AgentCalls)> _orders = <String, void Function(AgentCalls)>{
  'openChannel': (calls) => calls.openChannel(),
  'closeChannel': (calls) => calls.closeChannel(),
};

List<String>? _identifiers(JsonObject given) => (given['identifiers'] as List<Object?>?)?.cast<String>();

/// Goes through the steps of a vector.
class Course {
  Course(this.at);

  final Conversation at;
  final List<Future<Object?>> _answers = <Future<Object?>>[];

  Future<void> step(JsonObject step) async {
    if (step.containsKey('call')) {
      _call(step['call'] as String, step['arguments'] as JsonObject);
    } else if (step.containsKey('out')) {
      expect(await at.messages.next('message'), equals(step['out']));
    } else if (step.containsKey('in')) {
      await at.send(step['in'] as JsonObject);
    } else if (step.containsKey('result')) {
      expect(plain(await _answers.removeAt(0)), equals(step['result']));
    } else if (step.containsKey('error')) {
      await _expectError(step['error'] as JsonObject);
    } else if (step.containsKey('event')) {
      await _expectEvent(step);
    } else if (step.containsKey('state')) {
      await _expectState(step['state'] as JsonObject);
    } else {
      expect(step, contains('disconnect'));
      expect(at.messages.values, isEmpty, reason: 'the client has sent more');
      await at.disconnect();
    }
  }

  void _call(String name, JsonObject arguments) {
    final order = _orders[name];
    if (order != null) return order(at.calls);
    final answer = _calls[name]!(at, arguments);
    unawaited(answer.then<void>((_) {}, onError: (Object _) {}));
    _answers.add(answer);
  }

  Future<void> _expectError(JsonObject wanted) async {
    final matcher = isA<AldabaError>()
        .having((error) => error.code, 'code', wanted['code'])
        .having((error) => error.message, 'message', wanted['message']);
    await expectLater(_answers.removeAt(0), throwsA(matcher));
  }

  Future<void> _expectEvent(JsonObject step) async {
    final told = await at.events.next('event');
    expect(told.name, step['event']);
    expect(plain(told.value), equals(step['value']));
    final answer = step['answer'] as JsonObject?;
    if (answer != null) told.answer!(answer);
  }

  Future<void> _expectState(JsonObject wanted) async {
    final deadline = DateTime.now().add(const Duration(seconds: 10));
    Object? state = _state(wanted);
    while (!equals(wanted).matches(state, <Object?, Object?>{}) && DateTime.now().isBefore(deadline)) {
      await Future<void>.delayed(const Duration(milliseconds: 5));
      state = _state(wanted);
    }
    expect(state, equals(wanted));
  }

  JsonObject _state(JsonObject wanted) {
    final all = <String, Object?>{
      'connected': at.isConnected,
      'token': at.calls.token,
      'unconfirmed': at.calls.unconfirmed,
    };
    return <String, Object?>{for (final name in wanted.keys) name: all[name]};
  }
}

Future<void> _converse(Conversation conversation, JsonObject vector) async {
  try {
    final course = Course(conversation);
    for (final step in vector['steps'] as List<Object?>) {
      await course.step(step as JsonObject);
    }
    await pumpEventQueue();
    expect(conversation.messages.values, isEmpty, reason: 'the client has sent more');
  } finally {
    await conversation.close();
  }
}

/// The capabilities that this client lacks: vectors that need one are for others.
const Set<String> _lacking = <String>{'liveActivities'};

void main() {
  final folder = Platform.environment['ALDABA_VECTORS'] ?? '../../vectors';
  final files = Directory(folder).listSync().whereType<File>().where((file) => file.path.endsWith('.json')).toList()
    ..sort((one, other) => one.path.compareTo(other.path));

  test('there are vectors', () => expect(files.length, greaterThanOrEqualTo(40)));

  for (final file in files) {
    final vector = jsonDecode(file.readAsStringSync()) as JsonObject;
    if ((vector['needs'] as List<Object?>? ?? const <Object?>[]).any(_lacking.contains)) continue;
    final name = '${file.uri.pathSegments.last}: ${vector['title']}';
    final client = vector['client'] as JsonObject;
    test('$name, without a socket', () => _converse(ProtocolConversation(client), vector));
    test('$name, over a socket', () async => _converse(await SocketConversation.listen(client), vector));
  }
}
