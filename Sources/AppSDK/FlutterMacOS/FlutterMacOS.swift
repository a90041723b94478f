@_exported import Flutter

// Flutter's module for macOS: the same here. There a registrar's messenger is a variable, `registrar.messenger`; here
// that names the method, which the channels take as well.

extension FlutterMethodChannel {
    /// A channel with the standard codec, of a registrar's messenger.
    public convenience init(name: String, binaryMessenger messenger: () -> any FlutterBinaryMessenger) {
        self.init(name: name, binaryMessenger: messenger())
    }
}

extension FlutterEventChannel {
    /// A channel with the standard codec, of a registrar's messenger.
    public convenience init(name: String, binaryMessenger messenger: () -> any FlutterBinaryMessenger) {
        self.init(name: name, binaryMessenger: messenger())
    }
}

extension FlutterBasicMessageChannel {
    /// A channel with the standard codec, of a registrar's messenger.
    public convenience init(name: String, binaryMessenger messenger: () -> any FlutterBinaryMessenger) {
        self.init(name: name, binaryMessenger: messenger())
    }
}
