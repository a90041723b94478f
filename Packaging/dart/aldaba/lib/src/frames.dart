import 'dart:convert';
import 'dart:typed_data';

import 'errors.dart';
import 'json.dart';

/// The version of the protocol.
const int protocolVersion = 1;

/// The largest number of bytes of a frame's body.
const int longestFrame = 1 << 20;

/// Returns the frame of a message: four bytes of length, then its JSON text.
Uint8List encodeFrame(JsonObject message) {
  final text = utf8.encode(_encodeText(message));
  if (text.length > longestFrame) {
    throw AldabaError(
        'tooLarge', '${message['type']} is a message of ${text.length} bytes; at most $longestFrame are allowed');
  }
  final frame = Uint8List(4 + text.length);
  ByteData.sublistView(frame).setUint32(0, text.length);
  frame.setRange(4, frame.length, text);
  return frame;
}

String _encodeText(JsonObject message) {
  try {
    return jsonEncode(message);
  } on JsonUnsupportedObjectError catch (error) {
    throw invalid('${message['type']} cannot be written as JSON: ${error.unsupportedObject}');
  }
}

/// Divides the bytes of a connection into the bodies of frames.
class FrameDecoder {
  Uint8List _bytes = Uint8List(0);

  /// Adds bytes. They may end anywhere in a frame.
  void append(List<int> piece) {
    final joined = Uint8List(_bytes.length + piece.length);
    joined.setRange(0, _bytes.length, _bytes);
    joined.setRange(_bytes.length, joined.length, piece);
    _bytes = joined;
  }

  /// Returns the body of the next frame; null while it is not complete.
  Uint8List? next() {
    if (_bytes.length < 4) return null;
    final length = ByteData.sublistView(_bytes).getUint32(0);
    if (length > longestFrame) {
      throw malformed('a frame of $length bytes; at most $longestFrame are allowed');
    }
    if (_bytes.length < 4 + length) return null;
    final body = Uint8List.sublistView(_bytes, 4, 4 + length);
    _bytes = Uint8List.sublistView(_bytes, 4 + length);
    return body;
  }
}

/// Returns the message of a frame's body; null for a packet about relaying.
JsonObject? decodeBody(Uint8List body) {
  if (body.isNotEmpty && body[0] == 0) return null;
  final Object? message = _decodeText(body);
  if (message is JsonObject && message['type'] is String) return message;
  throw malformed('a frame that is not a JSON object with a text in its member `type`');
}

Object? _decodeText(Uint8List body) {
  try {
    return jsonDecode(utf8.decode(body));
  } on FormatException catch (error) {
    throw malformed('a frame that is not JSON: ${error.message}');
  }
}
