import 'dart:async';
import 'dart:io';

import 'package:aldaba/aldaba.dart';
import 'package:firebase_messaging_platform_interface/firebase_messaging_platform_interface.dart';
import 'package:flutter/widgets.dart' show AppLifecycleState, WidgetsBindingObserver, WidgetsFlutterBinding;

import 'remote_message.dart';

/// The client of one app: gives what comes to the streams of `firebase_messaging`, and reports the app's state.
class Receiver with WidgetsBindingObserver {
  Receiver({String? app, String? secret, String? socket, required this.onResponse}) {
    client = NotificationClient(
      app: app,
      secret: secret,
      socket: socket,
      handlers: AgentHandlers(onNotification: _notified, onResponse: _answered, onMessage: _messaged),
    );
    client.events.listen(_happened);
  }

  late final NotificationClient client;

  /// Is called with each answer of a person.
  final void Function(NotificationResponse response) onResponse;

  /// The options by which a notification is shown while the app is in front.
  int presentationOptions = 0;

  final StreamController<String> _tokens = StreamController<String>.broadcast();
  final Completer<void> _firstWelcome = Completer<void>();
  RemoteMessage? _initialMessage;
  int? _launchID;

  /// The device tokens that take the place of earlier ones.
  Stream<String> get tokens => _tokens.stream;

  /// Connects, and waits for an agent where none runs. It reports the app's state from now on.
  void start() {
    WidgetsFlutterBinding.ensureInitialized().addObserver(this);
    client.connect(waitsForAgent: true).then<void>((_) {}, onError: _tellEnd);
    client.openChannel();
  }

  /// Returns the message whose opening started the app, once.
  Future<RemoteMessage?> takeInitialMessage() async {
    await _firstWelcome.future.timeout(const Duration(seconds: 10), onTimeout: () {});
    final message = _initialMessage;
    _initialMessage = null;
    return message;
  }

  /// Ends the connection and the reports of the app's state.
  Future<void> stop() async {
    WidgetsFlutterBinding.ensureInitialized().removeObserver(this);
    await client.close();
  }

  @override
  void didChangeAppLifecycleState(AppLifecycleState state) {
    switch (state) {
      case AppLifecycleState.resumed:
        client.setState(AppState.active);
      case AppLifecycleState.inactive:
        client.setState(AppState.inactive);
      default:
        client.setState(AppState.background);
    }
  }

  void _tellEnd(Object error) => stderr.writeln('aldaba_firebase_messaging: $error');

  void _happened(AgentEvent event) {
    if (event is ConnectedEvent) {
      _welcomed(event.welcome);
    } else if (event is TokenEvent) {
      _tokens.add(event.token);
    } else if (event is ClosedEvent) {
      _tellEnd(event.reason);
    }
  }

  void _welcomed(Welcome welcome) {
    if (_firstWelcome.isCompleted) return;
    final launch = welcome.launchNotification;
    if (launch != null && launch.isRemote) {
      _launchID = launch.id;
      _initialMessage = remoteMessage(launch);
    }
    _firstWelcome.complete();
  }

  Future<Outcome?> _notified(DeliveredNotification notification, DeliveryKind kind) async {
    if (!notification.isRemote) {
      return kind.isBackground ? null : const Outcome.presented();
    }
    final isTaken = await _give(notification);
    if (kind.isBackground) {
      return Outcome.background(isTaken ? BackgroundResult.newData : BackgroundResult.noData);
    }
    return Outcome.presented(presentationOptions);
  }

  Future<void> _messaged(DeliveredNotification notification) => _give(notification);

  /// Gives a message to the app: in the background to its handler. Returns whether there is somebody who takes it.
  Future<bool> _give(DeliveredNotification notification) async {
    final message = remoteMessage(notification);
    if (client.state == AppState.background) {
      final handler = FirebaseMessagingPlatform.onBackgroundMessage;
      await handler?.call(message);
      return handler != null;
    }
    FirebaseMessagingPlatform.onMessage.add(message);
    return FirebaseMessagingPlatform.onMessage.hasListener;
  }

  void _answered(NotificationResponse response) {
    onResponse(response);
    final notification = response.notification;
    if (!response.isOpening || !notification.isRemote) return;
    if (notification.id == _launchID) {
      _launchID = null; // It is the initial message.
      return;
    }
    FirebaseMessagingPlatform.onMessageOpenedApp.add(remoteMessage(notification));
  }
}
