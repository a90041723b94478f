import Flutter

/// Stands for the file that Flutter's tool makes of an app's plugins, in Objective-C: this app has none here.
enum GeneratedPluginRegistrant {
    static func register(with registry: FlutterAppDelegate) {}
}
