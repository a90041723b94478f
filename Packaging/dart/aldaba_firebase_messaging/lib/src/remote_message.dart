import 'package:aldaba/aldaba.dart' show DeliveredNotification, JsonObject;
import 'package:firebase_messaging_platform_interface/firebase_messaging_platform_interface.dart';

/// Returns the message of a push, as `firebase_messaging` has it.
RemoteMessage remoteMessage(DeliveredNotification delivered) {
  final payload = delivered.userInfo;
  final aps = _object(payload['aps']);
  return RemoteMessage(
    senderId: _text(payload['google.c.sender.id']),
    category: _text(aps['category']),
    collapseKey: _text(payload['collapse_key']),
    contentAvailable: _isSet(aps['content-available']),
    data: <String, dynamic>{
      for (final entry in payload.entries)
        if (_isData(entry.key)) entry.key: entry.value,
    },
    from: _text(payload['from']),
    messageId: _text(payload['gcm.message_id']) ?? delivered.apnsID ?? delivered.identifier,
    messageType: _text(payload['message_type']),
    mutableContent: _isSet(aps['mutable-content']),
    notification: _notification(delivered, aps),
    sentTime: delivered.date < 0 ? null : DateTime.fromMillisecondsSinceEpoch(delivered.date),
    threadId: _text(aps['thread-id']),
    ttl: _number(payload['gcm.ttl']),
  );
}

/// Returns what a message shows; null for a data message.
RemoteNotification? _notification(DeliveredNotification delivered, JsonObject aps) {
  final Object? found = aps['alert'];
  if (found == null && delivered.content == null) return null;
  final alert = _object(found);
  return RemoteNotification(
    title: _shown(delivered.title),
    titleLocKey: _text(alert['title-loc-key']),
    titleLocArgs: _texts(alert['title-loc-args']),
    body: _shown(delivered.body),
    bodyLocKey: _text(alert['loc-key']),
    bodyLocArgs: _texts(alert['loc-args']),
  );
}

/// Whether a key is the provider's own, and not the protocol's.
bool _isData(String key) {
  const reserved = <String>{'aps', 'from', 'fcm_options', 'collapse_key', 'message_type', 'aldaba'};
  return !reserved.contains(key) && !key.startsWith('gcm.') && !key.startsWith('google.');
}

JsonObject _object(Object? value) => value is JsonObject ? value : <String, Object?>{};

String? _text(Object? value) => value is String ? value : null;

String? _shown(String text) => text.isEmpty ? null : text;

List<String> _texts(Object? value) => value is List ? value.whereType<String>().toList() : const <String>[];

bool _isSet(Object? value) => value == 1 || value == true;

int? _number(Object? value) => value is int ? value : int.tryParse(_text(value) ?? '');
