import 'dart:convert';

import 'package:aldaba/aldaba.dart';
import 'package:aldaba_firebase_messaging/aldaba_firebase_messaging.dart';
import 'package:test/test.dart';

DeliveredNotification _delivered(JsonObject payload) {
  return DeliveredNotification.fromJson(<String, Object?>{
    'id': 7,
    'identifier': 'chat-7',
    'apnsID': '4d1c3f60-2f0a-4b0e-9a57-0c9f4f7c2b11',
    'topic': 'com.example.shop',
    'date': 1790000000000,
    'payload': jsonEncode(payload),
  });
}

void main() {
  test("a message has its texts, the provider's data and its id", () {
    final message = remoteMessage(_delivered(<String, Object?>{
      'gcm.message_id': '384804008251883521',
      'google.c.sender.id': '1075884059246928',
      'from': '/topics/news',
      'gcm.ttl': '60',
      'collapse_key': 'list',
      'item': 'milk',
      'aps': <String, Object?>{
        'alert': <String, Object?>{'title': 'Buy', 'body': 'Milk'},
        'thread-id': 'shop',
        'content-available': 1,
      },
    }));
    expect(message.messageId, '384804008251883521');
    expect(message.senderId, '1075884059246928');
    expect(message.from, '/topics/news');
    expect(message.ttl, 60);
    expect(message.collapseKey, 'list');
    expect(message.data, <String, Object?>{'item': 'milk'});
    expect(message.notification?.title, 'Buy');
    expect(message.notification?.body, 'Milk');
    expect(message.threadId, 'shop');
    expect(message.contentAvailable, isTrue);
    expect(message.mutableContent, isFalse);
    expect(message.sentTime?.millisecondsSinceEpoch, 1790000000000);
  });

  test('a data message has no notification', () {
    final message = remoteMessage(_delivered(<String, Object?>{'gcm.message_id': '1', 'score': '850'}));
    expect(message.notification, isNull);
    expect(message.data, <String, Object?>{'score': '850'});
  });

  test('a push of APNs has the id of its notification', () {
    final message = remoteMessage(_delivered(<String, Object?>{
      'aps': <String, Object?>{'alert': 'Hello'},
    }));
    expect(message.messageId, '4d1c3f60-2f0a-4b0e-9a57-0c9f4f7c2b11');
    expect(message.notification?.title, isNull);
    expect(message.notification?.body, 'Hello');
  });
}
