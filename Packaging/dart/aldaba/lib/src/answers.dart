import 'dart:typed_data';

/// The ids that the app handles, and its answers that the agent has not confirmed.
class AnswerBook {
  /// The largest number of stored answers that are never confirmed.
  static const int endedLimit = 1000;

  final Set<String> _open = <String>{};
  final Map<String, _Answer> _unconfirmed = <String, _Answer>{};
  final Map<String, Uint8List> _ended = <String, Uint8List>{};

  /// The ids whose answers the agent has not confirmed, in the order of the answers.
  List<int> get ids => <int>[for (final answer in _unconfirmed.values) answer.id];

  /// The frames of those answers, in their order.
  List<Uint8List> get frames => <Uint8List>[for (final answer in _unconfirmed.values) answer.frame];

  /// The number of ids that are being handled or not confirmed.
  int get length => _open.length + _unconfirmed.length;

  /// Returns the stored answer to an id; null where there is none.
  Uint8List? known(String answer, int id) => _unconfirmed[_key(answer, id)]?.frame ?? _ended[_key(answer, id)];

  /// Begins the handling of an id. Returns false where it is being handled already.
  bool begin(String answer, int id) => _open.add(_key(answer, id));

  /// Stores the answer to an id that is being handled. Returns false for another id.
  bool end(String answer, int id, {required Uint8List frame, required bool isConfirmed}) {
    final key = _key(answer, id);
    if (!_open.remove(key)) return false;
    if (isConfirmed) {
      _unconfirmed[key] = _Answer(id, frame);
    } else {
      _ended[key] = frame;
      if (_ended.length > endedLimit) _ended.remove(_ended.keys.first);
    }
    return true;
  }

  /// Removes the answers that the agent has confirmed.
  void confirm(String answer, List<int> ids) {
    for (final id in ids) {
      _unconfirmed.remove(_key(answer, id));
    }
  }

  String _key(String answer, int id) => '$answer $id';
}

class _Answer {
  const _Answer(this.id, this.frame);

  final int id;
  final Uint8List frame;
}
