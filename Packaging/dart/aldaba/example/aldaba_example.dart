import 'dart:io';

import 'package:aldaba/aldaba.dart';

Future<void> main(List<String> arguments) async {
  final client = NotificationClient(
    app: 'com.example.tea',
    secret: File(arguments.single).readAsStringSync(),
    handlers: AgentHandlers(
      onNotification: (notification, kind) {
        print('${notification.title}: ${notification.body}');
        return null;
      },
      onResponse: (response) => print('${response.action} ${response.userText ?? ''}'),
    ),
  );
  await client.connect();
  await client.add(NotificationRequest('tea', NotificationContent(title: 'Tea', body: 'It is ready.')));
  print('token: ${await client.register()}');
}
