import 'dart:async';
import 'dart:io';
import 'dart:typed_data';

import 'errors.dart';

/// The largest number of bytes of a socket's path on Linux.
const int longestPath = 107;

/// Returns the path of the agent's socket by the variables of the environment.
String socketOfEnvironment(Map<String, String> environment) {
  final named = environment['ALDABA_AGENT_SOCKET'] ?? '';
  if (named.isNotEmpty) return named;
  final folder = environment['XDG_RUNTIME_DIR'] ?? '';
  if (folder.isNotEmpty) return '$folder/aldaba/agent.sock';
  throw const AldabaError('noSocket',
      "the path of the agent's socket is not known: pass `socket`, or set ALDABA_AGENT_SOCKET or XDG_RUNTIME_DIR");
}

/// Returns the error that says why no connection to the path can be made.
AldabaError connectionError(SocketException error, String path) {
  switch (error.osError?.errorCode) {
    case 2: // ENOENT
    case 111: // ECONNREFUSED
      return AldabaError('noAgent',
          'no agent listens at $path: start it with `systemctl --user start aldaba-agent`, or with `aldaba agent`');
    case 1: // EPERM
    case 13: // EACCES
      return AldabaError('notPermitted', 'this user may not connect to $path: ${error.message}');
    default:
      return AldabaError('disconnected', 'the connection to $path failed: ${error.message}');
  }
}

/// One connection to the agent's socket.
class AgentConnection {
  AgentConnection({required this.onBytes, required this.onEnd});

  /// Is called with bytes that came.
  final void Function(AgentConnection connection, Uint8List bytes) onBytes;

  /// Is called once, when the connection has ended by itself.
  final void Function(AgentConnection connection, AldabaError reason) onEnd;

  final List<Uint8List> _unsent = <Uint8List>[];
  int _unsentBytes = 0;
  Socket? _socket;
  bool _isEnded = false;
  Completer<void>? _writing;

  /// The number of bytes that the agent has not read.
  int get unsentBytes => _unsentBytes;

  /// Connects to a path. Returns false where the connection failed, or was destroyed meanwhile.
  Future<bool> open(String path) async {
    try {
      final socket = await Socket.connect(InternetAddress(path, type: InternetAddressType.unix), 0);
      if (_isEnded) {
        socket.destroy();
        return false;
      }
      _socket = socket;
      // A failed write is reported by the stream's end as well.
      unawaited(socket.done.then<void>((_) {}, onError: (Object _) {}));
      socket.listen(
        (bytes) {
          if (!_isEnded) onBytes(this, bytes);
        },
        onError: (Object error) => end(_ended(error, path)),
        onDone: () => end(const AldabaError('disconnected', 'The agent ended the connection.')),
      );
      return true;
    } on SocketException catch (error) {
      end(connectionError(error, path));
      return false;
    }
  }

  AldabaError _ended(Object error, String path) {
    if (error is SocketException) return connectionError(error, path);
    return AldabaError('disconnected', 'the connection to $path failed: $error');
  }

  /// Writes bytes in their order.
  void write(Uint8List bytes) {
    if (_isEnded) return;
    _unsent.add(bytes);
    _unsentBytes += bytes.length;
    if (_writing == null) unawaited(_writeAll());
  }

  Future<void> _writeAll() async {
    final writing = Completer<void>();
    _writing = writing;
    try {
      while (_unsent.isNotEmpty && !_isEnded) {
        final bytes = _unsent.removeAt(0);
        // Nothing is added to the socket while it is being flushed.
        _socket?.add(bytes);
        await _socket?.flush();
        _unsentBytes -= bytes.length;
      }
    } catch (_) {
      end(const AldabaError('disconnected', 'The agent ended the connection.'));
    } finally {
      _writing = null;
      writing.complete();
    }
  }

  /// Waits until all is written, or the time is over.
  Future<void> drain(Duration limit) async {
    await _writing?.future.timeout(limit, onTimeout: () {});
  }

  /// Ends the connection for a reason, which is told.
  void end(AldabaError reason) {
    if (_isEnded) return;
    destroy();
    onEnd(this, reason);
  }

  /// Ends the connection. The end is not told.
  void destroy() {
    _isEnded = true;
    _unsent.clear();
    _unsentBytes = 0;
    _socket?.destroy();
  }
}
