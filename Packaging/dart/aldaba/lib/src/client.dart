import 'dart:async';
import 'dart:convert';
import 'dart:io';
import 'dart:math';
import 'dart:typed_data';

import 'calls.dart';
import 'connection.dart';
import 'errors.dart';
import 'events.dart';
import 'handlers.dart';
import 'notification.dart';
import 'protocol.dart';

const Duration _firstPause = Duration(milliseconds: 50);
const Duration _longestPause = Duration(seconds: 5);
const Duration _stableConnection = Duration(seconds: 2);
const Duration _welcomeLimit = Duration(seconds: 10);
const Duration _closeLimit = Duration(seconds: 1);
const int _unsentLimit = 32 << 20;
const int _answersLimit = 10000;

/// A client of the agent: one app, or its service extension.
class NotificationClient extends AgentCalls {
  /// Creates a client; `connect` connects it.
  ///
  /// Without [app] its id is that of the variable `ALDABA_APP_ID`. [secret] is the text of the app's secret. [socket]
  /// is the path of the agent's socket; without it that of `ALDABA_AGENT_SOCKET`, else `aldaba/agent.sock` in
  /// `XDG_RUNTIME_DIR`. [run] names this run of the app: by default at random, and not at all where it is empty.
  NotificationClient({
    String? app,
    String? secret,
    String? socket,
    String? run,
    ClientRole role = ClientRole.app,
    this.handlers = const AgentHandlers(),
    this.handlerTimeout = const Duration(seconds: 30),
  })  : protocol = AgentProtocol(
          app: _checkedApp(app ?? Platform.environment['ALDABA_APP_ID'] ?? ''),
          secret: secret?.trim(),
          run: run == '' ? null : run ?? randomName(),
          role: role,
        ),
        _path = _checkedSocket(socket ?? socketOfEnvironment(Platform.environment));

  @override
  final AgentProtocol protocol;

  /// The functions that answer the agent.
  final AgentHandlers handlers;

  /// The time that a handler has.
  final Duration handlerTimeout;

  final String _path;
  final StreamController<AgentEvent> _events = StreamController<AgentEvent>.broadcast();
  final Random _random = Random();
  final Stopwatch _sinceWelcome = Stopwatch();
  Completer<Welcome>? _wish;
  AgentConnection? _connection;
  Timer? _timer;
  Duration _pause = _firstPause;
  bool _waitsForAgent = false;
  bool _isEstablished = false;

  /// The events that have no handler: connections, the token, the state, the person's wish for settings, errors.
  Stream<AgentEvent> get events => _events.stream;

  /// Whether a connection is open and welcomed.
  bool get connected => protocol.isConnected;

  // Connecting

  /// Connects. Later the client connects again by itself. With [waitsForAgent] it waits for an agent to start.
  Future<Welcome> connect({bool waitsForAgent = false}) async {
    final existing = _wish;
    if (existing != null) return existing.future;
    final wish = Completer<Welcome>();
    _wish = wish;
    _waitsForAgent = waitsForAgent;
    _isEstablished = false;
    _pause = _firstPause;
    protocol.begin();
    unawaited(_open());
    return wish.future;
  }

  /// Ends the connection, and fails what has no answer.
  Future<void> close() async {
    if (_wish == null) return;
    // The answers of handlers that return at once are still written.
    await Future<void>.delayed(Duration.zero);
    flush();
    await _connection?.drain(_closeLimit);
    _giveUp(const AldabaError('closed', 'The client was closed.'));
  }

  Future<void> _open() async {
    final connection = AgentConnection(onBytes: _received, onEnd: _ended);
    _connection = connection;
    _later(_welcomeLimit, () {
      connection.end(AldabaError('noAnswer',
          'the program that listens at $_path did not answer within ${_welcomeLimit.inSeconds} seconds'));
    });
    if (!await connection.open(_path)) return;
    protocol.connected();
    flush();
  }

  void _later(Duration pause, void Function() action) {
    _timer?.cancel();
    _timer = Timer(pause, action);
  }

  void _received(AgentConnection connection, Uint8List bytes) {
    if (connection != _connection) return;
    try {
      protocol.received(bytes);
    } on AldabaError catch (error, stackTrace) {
      _report(error, stackTrace);
      _update();
      connection.end(AldabaError(error.code, 'the agent at $_path sent what cannot be read: ${error.message}'));
      return;
    }
    _update();
  }

  void _ended(AgentConnection connection, AldabaError reason) {
    if (connection != _connection) return;
    _connection = null;
    final wasWelcomed = protocol.isConnected;
    protocol.disconnected();
    if (_wish == null) return;
    if (!_isEstablished && !_waitsForAgent) {
      _giveUp(reason);
      return;
    }
    if (wasWelcomed) {
      if (_sinceWelcome.elapsed >= _stableConnection) _pause = _firstPause;
      _tell(DisconnectedEvent(reason));
    }
    _later(_pause * (0.75 + _random.nextDouble() / 4), () => unawaited(_open()));
    final doubled = _pause * 2;
    _pause = doubled < _longestPause ? doubled : _longestPause;
  }

  /// Ends the wish for a connection, and fails what waits for it.
  void _giveUp(AldabaError error) {
    final wish = _wish;
    if (wish == null) return;
    _wish = null;
    _timer?.cancel();
    _connection?.destroy();
    _connection = null;
    protocol.close(error);
    protocol.disconnected();
    protocol.takeEvents().forEach(_dispatch);
    if (!wish.isCompleted) wish.completeError(error);
  }

  // Writing and reading

  @override
  void flush() {
    final bytes = protocol.takeOutput();
    final connection = _connection;
    if (bytes.isEmpty || connection == null) return;
    connection.write(bytes);
    if (connection.unsentBytes > _unsentLimit) {
      connection.end(AldabaError('agentStalled', 'the agent has not read ${connection.unsentBytes} bytes'));
    }
  }

  /// Writes, and tells the app, what the protocol has.
  void _update() {
    flush();
    protocol.takeEvents().forEach(_dispatch);
    final closed = protocol.closed;
    if (closed != null) {
      _giveUp(closed);
    } else if (protocol.openAnswers > _answersLimit) {
      _giveUp(AldabaError('unconfirmed', 'the agent has not confirmed ${protocol.openAnswers} answers'));
    }
  }

  void _dispatch(AgentEvent event) {
    if (event is AnsweredEvent) {
      unawaited(_handOver(event));
    } else if (event is ExtendEvent) {
      unawaited(_extend(event));
    } else if (event is ExpireEvent) {
      _expire(event);
    } else {
      if (event is ConnectedEvent) _welcomed(event.welcome);
      _tell(event);
    }
  }

  void _welcomed(Welcome welcome) {
    _timer?.cancel();
    _sinceWelcome
      ..reset()
      ..start();
    _isEstablished = true;
    final wish = _wish;
    if (wish != null && !wish.isCompleted) wish.complete(welcome);
  }

  // Handlers

  /// Runs the handler of an event, and answers the agent. It never fails.
  Future<void> _handOver(AnsweredEvent event) async {
    var outcome = handlers.failure(event);
    try {
      outcome = await _limited(handlers.handle(event), event.name);
    } catch (error, stackTrace) {
      _report(error, stackTrace);
    }
    protocol.answer(event, outcome);
    _update();
  }

  Future<T> _limited<T>(Future<T> work, String name) {
    return work.timeout(handlerTimeout, onTimeout: () {
      throw AldabaError('timeout', 'the handler of "$name" took more than ${handlerTimeout.inMilliseconds} ms');
    });
  }

  Future<void> _extend(ExtendEvent event) async {
    try {
      protocol.extended(event, await handlers.onExtend?.call(event.notification));
    } catch (error, stackTrace) {
      protocol.extensionFailed(event, error is AldabaError ? error.message : '$error');
      _report(error, stackTrace);
    }
    flush();
  }

  void _expire(ExpireEvent event) {
    try {
      handlers.onExpire?.call(event.id);
    } catch (error, stackTrace) {
      _report(error, stackTrace);
    }
  }

  void _tell(AgentEvent event) => _events.add(event);

  /// Tells of an error; without a listener it is printed.
  void _report(Object error, StackTrace stackTrace) {
    if (_events.hasListener) {
      _tell(ErrorEvent(error, stackTrace));
    } else {
      stderr.writeln('aldaba: $error');
    }
  }
}

String _checkedApp(String app) {
  if (app.isEmpty) throw invalid("app: the app's id is not known: pass `app`, or set ALDABA_APP_ID");
  return app;
}

String _checkedSocket(String path) {
  final length = utf8.encode(path).length;
  if (length > 0 && length <= longestPath) return path;
  throw invalid('socket: a path of $length bytes; it must have 1 to $longestPath: $path');
}
