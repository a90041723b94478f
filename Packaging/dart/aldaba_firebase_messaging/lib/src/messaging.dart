import 'dart:async';
import 'dart:io';

import 'package:aldaba/aldaba.dart';
import 'package:firebase_core_platform_interface/firebase_core_platform_interface.dart'
    show FirebaseException, FirebasePlatform;
import 'package:firebase_messaging_platform_interface/firebase_messaging_platform_interface.dart';

import 'core.dart';
import 'receiver.dart';
import 'settings.dart';

/// The implementation of `firebase_messaging` on Linux, over the socket of Aldaba's agent.
class AldabaFirebaseMessaging extends FirebaseMessagingPlatform {
  /// Creates an implementation for the app of an id; without one that of the variable `ALDABA_APP_ID`.
  AldabaFirebaseMessaging({String? app, String? secret, String? socket})
      : _appID = app,
        _secret = secret,
        _socket = socket,
        super();

  /// Makes this the implementation of the process.
  ///
  /// Flutter calls it by itself, without arguments, before `main`. Call it again before `Firebase.initializeApp` where
  /// the app's id is not in `ALDABA_APP_ID`, or the app proves itself by a secret. Where [replacesCore] is false,
  /// another package implements `firebase_core`.
  static void registerWith({String? app, String? secret, String? socket, bool replacesCore = true}) {
    final messaging = AldabaFirebaseMessaging(app: app, secret: secret, socket: socket);
    FirebaseMessagingPlatform.instance = messaging;
    if (replacesCore) FirebasePlatform.instance = AldabaFirebaseCore(onInitialized: messaging._startQuietly);
  }

  static final StreamController<NotificationResponse> _responses = StreamController<NotificationResponse>.broadcast();

  /// The person's answers to notifications: openings, actions and texts, also of local ones.
  static Stream<NotificationResponse> get onResponse => _responses.stream;

  /// The client of the registered implementation, for local notifications, actions and the badge.
  static NotificationClient get client {
    final instance = FirebaseMessagingPlatform.instance;
    if (instance is AldabaFirebaseMessaging) return instance._started().client;
    throw const AldabaError('notRegistered', 'another implementation of firebase_messaging is registered');
  }

  final String? _appID;
  final String? _secret;
  final String? _socket;
  Receiver? _receiver;
  bool _isAutoInitEnabled = false;

  /// Returns the client, which connects at first.
  Receiver _started() {
    final receiver = _receiver;
    if (receiver != null) return receiver;
    final created = Receiver(app: _appID, secret: _secret, socket: _socket, onResponse: _responses.add);
    _receiver = created;
    created.start();
    return created;
  }

  /// Connects. Where the app's id is not known, the first call says so.
  void _startQuietly() {
    try {
      _started();
    } on AldabaError catch (error) {
      stderr.writeln('aldaba_firebase_messaging: ${error.message}');
    }
  }

  Future<T> _call<T>(Future<T> Function(Receiver receiver) call) async {
    try {
      return await call(_started());
    } on AldabaError catch (error, stackTrace) {
      Error.throwWithStackTrace(
          FirebaseException(plugin: 'firebase_messaging', code: '${error.code}', message: error.message),
          stackTrace);
    }
  }

  @override
  FirebaseMessagingPlatform delegateFor({Object? app}) => this;

  @override
  FirebaseMessagingPlatform setInitialValues({bool? isAutoInitEnabled}) {
    _isAutoInitEnabled = isAutoInitEnabled ?? _isAutoInitEnabled;
    _startQuietly();
    return this;
  }

  @override
  bool get isAutoInitEnabled => _isAutoInitEnabled;

  @override
  Future<void> setAutoInitEnabled(bool enabled) async {
    _isAutoInitEnabled = enabled;
    if (enabled) await getToken();
  }

  @override
  Future<bool> isSupported() async => Platform.isLinux;

  // The token

  @override
  Future<String?> getToken({String? serviceWorkerScriptPath, String? vapidKey}) {
    return _call((receiver) => receiver.client.register());
  }

  @override
  Future<String?> getAPNSToken() => getToken();

  @override
  Future<void> deleteToken() => _call((receiver) => receiver.client.unregister());

  @override
  Stream<String> get onTokenRefresh => _started().tokens;

  // Messages

  @override
  Future<RemoteMessage?> getInitialMessage() => _call((receiver) => receiver.takeInitialMessage());

  /// The handler is called in this process; `FirebaseMessagingPlatform.onBackgroundMessage` has it.
  @override
  void registerBackgroundMessageHandler(BackgroundMessageHandler handler) {}

  @override
  Future<void> setForegroundNotificationPresentationOptions({
    bool alert = false,
    bool badge = false,
    bool sound = false,
  }) async {
    _started().presentationOptions = (alert ? PresentationOption.banner | PresentationOption.list : 0) |
        (badge ? PresentationOption.badge : 0) |
        (sound ? PresentationOption.sound : 0);
  }

  /// Sends a message to the app's provider. Later versions of the interface do not declare it.
  // ignore: annotate_overrides
  Future<void> sendMessage({
    required String to,
    Map<String, String>? data,
    String? collapseKey,
    String? messageId,
    String? messageType,
    int? ttl,
  }) {
    final message =
        UpstreamMessage(id: messageId, to: to, data: data ?? const <String, String>{}, timeToLive: ttl ?? 86400);
    return _call((receiver) => receiver.client.send(message));
  }

  @override
  Future<void> subscribeToTopic(String topic) => _call((receiver) => receiver.client.subscribe(topic));

  @override
  Future<void> unsubscribeFromTopic(String topic) => _call((receiver) => receiver.client.unsubscribe(topic));

  /// Does nothing: the reports of deliveries are those of the server.
  @override
  Future<void> setDeliveryMetricsExportToBigQuery(bool enabled) async {}

  // Permissions

  @override
  Future<NotificationSettings> getNotificationSettings() {
    return _call((receiver) async => notificationSettings(await receiver.client.settings()));
  }

  @override
  Future<NotificationSettings> requestPermission({
    bool alert = true,
    bool announcement = false,
    bool badge = true,
    bool carPlay = false,
    bool criticalAlert = false,
    bool provisional = false,
    bool sound = true,
    bool providesAppNotificationSettings = false,
  }) async {
    final options = (alert ? AuthorizationOption.alert : 0) |
        (announcement ? AuthorizationOption.announcement : 0) |
        (badge ? AuthorizationOption.badge : 0) |
        (carPlay ? AuthorizationOption.carPlay : 0) |
        (criticalAlert ? AuthorizationOption.criticalAlert : 0) |
        (provisional ? AuthorizationOption.provisional : 0) |
        (sound ? AuthorizationOption.sound : 0) |
        (providesAppNotificationSettings ? AuthorizationOption.providesAppNotificationSettings : 0);
    await _call((receiver) => receiver.client.requestAuthorization(options: options));
    return getNotificationSettings();
  }
}
