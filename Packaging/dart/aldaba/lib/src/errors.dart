/// An error of the client or the agent.
class AldabaError implements Exception {
  /// Creates an error with a code and a message.
  const AldabaError(this.code, this.message, {this.status});

  /// The stable code: a text, or a number where the notification centre refuses.
  final Object code;

  /// The reason, and what would be right.
  final String message;

  /// The status of the answer of a web server, where a file could not be fetched.
  final int? status;

  @override
  String toString() => 'AldabaError($code): $message';
}

/// The error of an argument that the agent would not accept. Nothing was sent.
AldabaError invalid(String message) => AldabaError('invalid', message);

/// The error of bytes that are none of the agent's messages.
AldabaError malformed(String message) => AldabaError('malformed', message);
