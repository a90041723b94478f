import 'package:firebase_core_platform_interface/firebase_core_platform_interface.dart';

/// The Firebase apps of a process on Linux: names and options, without a service behind them.
///
/// `firebase_core` has no implementation for Linux, and `FirebaseMessaging.instance` needs an app.
class AldabaFirebaseCore extends FirebasePlatform {
  /// Creates the apps. The function is called once the default app is initialized.
  AldabaFirebaseCore({this.onInitialized});

  /// Is called once the default app is initialized.
  final void Function()? onInitialized;

  final Map<String, FirebaseAppPlatform> _apps = <String, FirebaseAppPlatform>{};

  static const FirebaseOptions _noOptions =
      FirebaseOptions(apiKey: '', appId: '', messagingSenderId: '', projectId: '');

  @override
  List<FirebaseAppPlatform> get apps => _apps.values.toList(growable: false);

  @override
  Future<FirebaseAppPlatform> initializeApp({String? name, FirebaseOptions? options}) async {
    final known = _apps[name ?? defaultFirebaseAppName];
    if (known != null) return known;
    final app = _AldabaFirebaseApp(name ?? defaultFirebaseAppName, options ?? _noOptions, _apps);
    _apps[app.name] = app;
    if (app.name == defaultFirebaseAppName) onInitialized?.call();
    return app;
  }

  @override
  FirebaseAppPlatform app([String name = defaultFirebaseAppName]) {
    final app = _apps[name];
    if (app != null) return app;
    throw FirebaseException(
        plugin: 'core', code: 'no-app', message: 'there is no app "$name": call Firebase.initializeApp() first');
  }
}

class _AldabaFirebaseApp extends FirebaseAppPlatform {
  _AldabaFirebaseApp(super.name, super.options, this._apps);

  final Map<String, FirebaseAppPlatform> _apps;

  @override
  bool get isAutomaticDataCollectionEnabled => false;

  @override
  Future<void> delete() async => _apps.remove(name);

  @override
  Future<void> setAutomaticDataCollectionEnabled(bool enabled) async {}

  @override
  Future<void> setAutomaticResourceManagementEnabled(bool enabled) async {}
}
