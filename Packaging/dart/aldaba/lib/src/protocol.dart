import 'dart:typed_data';

import 'answers.dart';
import 'content.dart';
import 'errors.dart';
import 'events.dart';
import 'frames.dart';
import 'json.dart';
import 'notification.dart';
import 'options.dart';
import 'request_table.dart';

part 'received.dart';

const String _register = 'registerForRemoteNotifications';
const String _unregister = 'unregisterForRemoteNotifications';

/// What connects in the app's name.
enum ClientRole { app, serviceExtension }

/// The protocol between an app and the agent, without input and output: bytes in; events and bytes out.
///
/// It outlives connections. A shell tells it of them and of the bytes that come, writes the bytes of `takeOutput`, and
/// passes the events of `takeEvents` to the app. Nothing here reads a clock.
class AgentProtocol {
  AgentProtocol({required String app, String? secret, String? run, this.role = ClientRole.app})
      : _hello = withoutNulls(<String, Object?>{
          'type': 'hello',
          'version': protocolVersion,
          'app': app,
          'secret': secret,
          'run': run,
          'role': role == ClientRole.app ? null : role.name,
        });

  final ClientRole role;
  final JsonObject _hello;
  final RequestTable _requests = RequestTable();
  final AnswerBook _answers = AnswerBook();
  final Set<int> _extending = <int>{};
  final List<AgentEvent> _events = <AgentEvent>[];
  final BytesBuilder _output = BytesBuilder();
  FrameDecoder _decoder = FrameDecoder();
  PendingRequest? _registration;
  Future<JsonObject>? _registering;
  AldabaError? _closed = const AldabaError('notConnected', 'the client is not connected: call `connect` first');
  bool _wasWelcomed = false;
  bool _isChannelWanted = false;
  bool _isConnected = false;
  String? _token;
  AppState? _state;

  /// Whether a connection is open and welcomed.
  bool get isConnected => _isConnected;

  /// The device token; null while there is none.
  String? get token => _token;

  /// The state of the app; null before the first welcome.
  AppState? get state => _state;

  /// The ids that the app has handled and the agent has not confirmed.
  List<int> get unconfirmed => _answers.ids;

  /// The number of ids that the app handles, or that the agent has not confirmed.
  int get openAnswers => _answers.length;

  /// The reason for which no connection is wanted; null while one is.
  AldabaError? get closed => _closed;

  // The connection

  /// Begins: connections are wanted from now on.
  void begin() {
    _closed = null;
    _wasWelcomed = false;
  }

  /// A connection is open: says who the app is.
  void connected() {
    _decoder = FrameDecoder();
    _output.clear();
    _output.add(encodeFrame(_hello));
  }

  /// Bytes came. Throws an `AldabaError` where they are none of this protocol; the shell ends the connection then.
  void received(List<int> bytes) {
    _decoder.append(bytes);
    while (_closed == null) {
      final body = _decoder.next();
      if (body == null) return;
      final message = decodeBody(body);
      if (message != null) this._receive(message);
    }
  }

  /// The connection has ended.
  void disconnected() {
    _isConnected = false;
    _output.clear();
    for (final request in _requests.all) {
      if (request.isOnce) {
        _requests.fail(
            request.number, const AldabaError('disconnected', 'The connection ended before the answer.'));
      }
    }
  }

  /// Ends: no connection is wanted any more, and all requests fail with the error.
  void close(AldabaError error) {
    if (_closed != null) return;
    _closed = error;
    _isConnected = false;
    _registration = null;
    _registering = null;
    _requests.failAll(error);
    if (_wasWelcomed && error.code != 'closed') _events.add(ClosedEvent(error));
  }

  /// Removes and returns the bytes that are to be written.
  Uint8List takeOutput() => _output.takeBytes();

  /// Removes and returns the events for the app.
  List<AgentEvent> takeEvents() {
    final taken = List<AgentEvent>.of(_events);
    _events.clear();
    return taken;
  }

  void _say(JsonObject message) {
    if (_isConnected) _output.add(encodeFrame(message));
  }

  void _write(Uint8List frame) {
    if (_isConnected) _output.add(frame);
  }

  // What the app says

  /// Asks the agent. A request is repeated on each connection until it is answered, unless it is one for once.
  Future<JsonObject> ask(JsonObject message, {bool isOnce = false}) => _ask(message, isOnce).answer;

  PendingRequest _ask(JsonObject message, bool isOnce) {
    final closed = _closed;
    if (closed != null) throw closed;
    if (isOnce && !_isConnected) throw const AldabaError('disconnected', 'There is no connection to the agent.');
    final request = _requests.add(message, isOnce: isOnce);
    _write(request.frame);
    return request;
  }

  /// Asks for the device token, and asks again on each connection.
  Future<JsonObject> register() {
    final registering = _registering;
    if (registering != null) return registering;
    final request = _ask(<String, Object?>{'type': _register}, false);
    _registration = request;
    return _registering = request.answer;
  }

  /// Ends the device token.
  Future<JsonObject> unregister() {
    final earlier = _registration;
    final request = _ask(<String, Object?>{'type': _unregister}, false);
    _registration = request;
    _registering = null;
    _token = null;
    if (earlier != null && earlier.type == _register) {
      _requests.fail(earlier.number, const AldabaError('unregistered', 'The token was ended.'));
    }
    return request.answer;
  }

  /// The app has entered a state by itself.
  void enter(AppState state) {
    if (state == _state) return;
    _state = state;
    _sayState();
  }

  void _sayState() {
    final state = _state;
    if (state != null && role == ClientRole.app) {
      _say(<String, Object?>{'type': 'stateChanged', 'state': state.name});
    }
  }

  /// Opens or closes the direct channel.
  void wantChannel(bool isWanted) {
    _isChannelWanted = isWanted;
    _say(<String, Object?>{'type': 'channel', 'command': isWanted ? 'open' : 'close'});
  }

  /// Answers an event. The outcome is that of a notification.
  void answer(AnsweredEvent event, [JsonObject outcome = const <String, Object?>{}]) {
    final frame = encodeFrame(event.answerWith(outcome));
    if (_answers.end(event.answer, event.id, frame: frame, isConfirmed: event.isConfirmed)) _write(frame);
  }

  /// Answers for a service extension; without content the notification stays as it is.
  void extended(ExtendEvent event, NotificationContent? content) {
    final message = event.answerWith(content);
    final frame = encodeFrame(message);
    if (_extending.remove(event.notification.id)) _write(frame);
  }

  /// Says that a service extension could not change a notification.
  void extensionFailed(ExtendEvent event, String message) {
    final id = event.notification.id;
    if (!_extending.remove(id)) return;
    final text = message.length > 1000 ? message.substring(0, 1000) : message;
    _say(<String, Object?>{'type': 'extensionFailed', 'notification': id, 'message': text});
  }
}
