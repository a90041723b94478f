import 'dart:async';
import 'dart:typed_data';

import 'errors.dart';
import 'frames.dart';
import 'json.dart';

/// A request without an answer.
class PendingRequest {
  PendingRequest._(this.number, this.message, this.frame, this.isOnce);

  final int number;
  final JsonObject message;
  final Uint8List frame;

  /// Whether it is not repeated on another connection.
  final bool isOnce;
  final Completer<JsonObject> _answer = Completer<JsonObject>();

  String get type => message['type'] as String;
  Future<JsonObject> get answer => _answer.future;
}

/// The requests without an answer, in the order of their numbers.
class RequestTable {
  static const int countLimit = 10000;
  static const int bytesLimit = 16 << 20;

  final Map<int, PendingRequest> _requests = <int, PendingRequest>{};
  int _lastNumber = 0;
  int _bytes = 0;

  /// The requests, in the order of their numbers.
  List<PendingRequest> get all => _requests.values.toList();

  /// Adds a request under the next number. Throws an error of the code `tooManyRequests` beyond the limits.
  PendingRequest add(JsonObject message, {required bool isOnce}) {
    if (_requests.length >= countLimit) {
      throw const AldabaError('tooManyRequests', '$countLimit requests have no answer; await some');
    }
    final number = _lastNumber + 1;
    final numbered = withoutNulls(<String, Object?>{...message, 'request': number});
    final frame = encodeFrame(numbered);
    if (_bytes + frame.length > bytesLimit) {
      throw const AldabaError(
          'tooManyRequests', 'the requests without an answer have more than $bytesLimit bytes; await some');
    }
    _lastNumber = number;
    _bytes += frame.length;
    return _requests[number] = PendingRequest._(number, numbered, frame, isOnce);
  }

  /// Whether the request of this number has no answer yet.
  bool contains(Object? number) => _requests.containsKey(number);

  /// Ends a request with its answer. An unknown number is ignored.
  void complete(Object? number, JsonObject answer) => _take(number)?._answer.complete(answer);

  /// Ends a request with an error. An unknown number is ignored.
  void fail(Object? number, AldabaError error) => _take(number)?._answer.completeError(error);

  /// Ends all requests with an error.
  void failAll(AldabaError error) {
    for (final request in all) {
      fail(request.number, error);
    }
  }

  PendingRequest? _take(Object? number) {
    final request = _requests.remove(number);
    if (request != null) _bytes -= request.frame.length;
    return request;
  }
}
