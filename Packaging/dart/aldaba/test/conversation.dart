import 'dart:async';
import 'dart:collection';
import 'dart:convert';
import 'dart:io';

import 'package:aldaba/aldaba.dart';
import 'package:aldaba/src/frames.dart';

/// Values in the order in which they came. `next` waits for one.
class WaitingQueue<T> {
  final Queue<T> values = Queue<T>();
  final Queue<Completer<T>> _takers = Queue<Completer<T>>();

  void add(T value) {
    if (_takers.isEmpty) {
      values.add(value);
    } else {
      _takers.removeFirst().complete(value);
    }
  }

  Future<T> next(String what) {
    if (values.isNotEmpty) return Future<T>.value(values.removeFirst());
    final taker = Completer<T>();
    _takers.add(taker);
    return taker.future.timeout(const Duration(seconds: 10), onTimeout: () => throw StateError('no $what came'));
  }
}

/// An event that the client told, and the function that answers it.
class ToldEvent {
  ToldEvent(this.name, this.value, [this.answer]);

  final String name;
  final JsonObject value;
  final void Function(JsonObject answer)? answer;
}

/// A client under test, and the agent as the test plays it.
abstract class Conversation {
  final WaitingQueue<JsonObject> messages = WaitingQueue<JsonObject>();
  final WaitingQueue<ToldEvent> events = WaitingQueue<ToldEvent>();

  AgentCalls get calls;
  bool get isConnected;
  Future<Welcome> connect();
  Future<void> send(JsonObject message);
  Future<void> disconnect();
  Future<void> close();
}

/// Returns the outcome that a step of a conversation names.
Outcome outcomeOf(JsonObject answer) {
  switch (answer['outcome']) {
    case 'presented':
      return Outcome.presented(answer['options'] as int);
    case 'background':
      return Outcome.background(BackgroundResult.values.byName(answer['result'] as String));
    default:
      return const Outcome.notPresented();
  }
}

/// Returns the content that a step names. Throws where the step names an error.
NotificationContent? contentOf(JsonObject answer) {
  final error = answer['error'];
  if (error != null) throw AldabaError('test', error as String);
  final content = answer['content'] as JsonObject?;
  return content == null ? null : NotificationContent.fromJson(content);
}

/// A conversation with the protocol alone: no socket, no clock.
class ProtocolConversation extends Conversation {
  ProtocolConversation(JsonObject client)
      : protocol = AgentProtocol(
          app: client['app'] as String,
          secret: client['secret'] as String?,
          run: client['run'] as String?,
          role: ClientRole.values.byName(client['role'] as String? ?? 'app'),
        );

  final AgentProtocol protocol;
  final Completer<Welcome> _welcome = Completer<Welcome>();
  final FrameDecoder _decoder = FrameDecoder();

  @override
  late final AgentCalls calls = _ProtocolCalls(this);

  @override
  bool get isConnected => protocol.isConnected;

  @override
  Future<Welcome> connect() {
    protocol.begin();
    protocol.connected();
    update();
    return _welcome.future;
  }

  @override
  Future<void> send(JsonObject message) async {
    protocol.received(encodeFrame(message));
    update();
  }

  @override
  Future<void> disconnect() async {
    protocol.disconnected();
    protocol.connected();
    update();
  }

  @override
  Future<void> close() async => protocol.close(const AldabaError('closed', 'The test is over.'));

  void update() {
    _decoder.append(protocol.takeOutput());
    for (var body = _decoder.next(); body != null; body = _decoder.next()) {
      messages.add(decodeBody(body)!);
    }
    protocol.takeEvents().forEach(_tell);
    final closed = protocol.closed;
    if (closed != null && !_welcome.isCompleted) _welcome.completeError(closed);
  }

  void _tell(AgentEvent event) {
    if (event is ConnectedEvent) {
      if (!_welcome.isCompleted) _welcome.complete(event.welcome);
    } else {
      events.add(ToldEvent(event.name, event.value, (answer) => _answer(event, answer)));
    }
  }

  void _answer(AgentEvent event, JsonObject answer) {
    if (event is NotificationEvent) {
      protocol.answer(event, outcomeOf(answer).toJson(event.kind));
    } else if (event is AnsweredEvent) {
      protocol.answer(event);
    } else if (event is ExtendEvent) {
      try {
        protocol.extended(event, contentOf(answer));
      } on AldabaError catch (error) {
        protocol.extensionFailed(event, error.message);
      }
    }
    update();
  }
}

class _ProtocolCalls extends AgentCalls {
  _ProtocolCalls(this._conversation);

  final ProtocolConversation _conversation;

  @override
  AgentProtocol get protocol => _conversation.protocol;

  @override
  void flush() => _conversation.update();
}

/// A conversation over a Unix socket.
class SocketConversation extends Conversation {
  SocketConversation._(this._folder, this._server, JsonObject client) {
    _server.listen(_accepted);
    calls = NotificationClient(
      app: client['app'] as String,
      secret: client['secret'] as String?,
      run: client['run'] as String? ?? '',
      role: ClientRole.values.byName(client['role'] as String? ?? 'app'),
      socket: '${_folder.path}/agent.sock',
      handlers: _handlers(),
    );
    calls.events.listen((event) {
      if (event is ConnectedEvent || event is DisconnectedEvent || event is ErrorEvent) return;
      events.add(ToldEvent(event.name, event.value));
    });
  }

  static Future<SocketConversation> listen(JsonObject client) async {
    final folder = await Directory.systemTemp.createTemp('aldaba');
    final address = InternetAddress('${folder.path}/agent.sock', type: InternetAddressType.unix);
    return SocketConversation._(folder, await ServerSocket.bind(address, 0), client);
  }

  final Directory _folder;
  final ServerSocket _server;
  Completer<Socket> _socket = Completer<Socket>();

  @override
  late final NotificationClient calls;

  @override
  bool get isConnected => calls.connected;

  @override
  Future<Welcome> connect() => calls.connect();

  void _accepted(Socket socket) {
    final decoder = FrameDecoder();
    socket.done.then<void>((_) {}, onError: (Object _) {});
    socket.listen((bytes) {
      decoder.append(bytes);
      for (var body = decoder.next(); body != null; body = decoder.next()) {
        messages.add(decodeBody(body)!);
      }
    }, onError: (Object _) {});
    _socket.complete(socket);
  }

  @override
  Future<void> send(JsonObject message) async {
    final socket = await _socket.future;
    socket.add(encodeFrame(message));
    await socket.flush();
  }

  @override
  Future<void> disconnect() async {
    final socket = await _socket.future;
    _socket = Completer<Socket>();
    socket.destroy();
  }

  @override
  Future<void> close() async {
    await calls.close();
    await _server.close();
    await _folder.delete(recursive: true);
  }

  Future<JsonObject> _told(String name, JsonObject value) {
    final answer = Completer<JsonObject>();
    events.add(ToldEvent(name, value, answer.complete));
    return answer.future;
  }

  AgentHandlers _handlers() {
    return AgentHandlers(
      onNotification: (notification, kind) async => outcomeOf(
          await _told('notification', <String, Object?>{'kind': kind.name, 'notification': notification})),
      onResponse: (response) async => _told('response', response.toJson()),
      onMessage: (notification) async => _told('message', <String, Object?>{'notification': notification}),
      onMessagesDeleted: (event) async => _told(event.name, event.value),
      onUpstreamEnded: (event) async => _told(event.name, event.value),
      onExtend: (notification) async =>
          contentOf(await _told('extend', <String, Object?>{'notification': notification})),
      onExpire: (id) => events.add(ToldEvent('expire', <String, Object?>{'notification': id})),
    );
  }
}

/// Returns a value as its JSON is read.
Object? plain(Object? value) => jsonDecode(jsonEncode(value));
