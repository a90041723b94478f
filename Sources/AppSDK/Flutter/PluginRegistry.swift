import Foundation
import UIKit

/// The accesses of plugins, and the plugins that are told of the app's events.
@MainActor
final class PluginRegistry {
    private var registrars: [String: Registrar] = [:]
    private let messenger: () -> any FlutterBinaryMessenger
    /// The plugins that are told of the app's events, in the order in which they asked for it.
    fileprivate(set) var delegates: [any FlutterPlugin] = []

    init(messenger: @escaping () -> any FlutterBinaryMessenger) { self.messenger = messenger }

    func registrar(forPlugin key: String) -> (any FlutterPluginRegistrar)? {
        guard registrars[key] == nil else { return nil }
        let registrar = Registrar(self, messenger: messenger())
        registrars[key] = registrar
        return registrar
    }

    func hasPlugin(_ key: String) -> Bool { registrars[key] != nil }

    func valuePublished(byPlugin key: String) -> NSObject? { registrars[key]?.published }

    fileprivate func addDelegate(_ plugin: any FlutterPlugin) { delegates.append(plugin) }
}

/// The access of one plugin.
@MainActor
private final class Registrar: NSObject, FlutterPluginRegistrar {
    private weak var registry: PluginRegistry?
    private let ownMessenger: any FlutterBinaryMessenger
    /// The object that the plugin has published; the null object until then, as in Flutter.
    fileprivate var published: NSObject = NSNull()

    init(_ registry: PluginRegistry, messenger: any FlutterBinaryMessenger) {
        self.registry = registry
        ownMessenger = messenger
        super.init()
    }

    func messenger() -> any FlutterBinaryMessenger { ownMessenger }

    func publish(_ value: NSObject) { published = value }

    func addMethodCallDelegate(_ delegate: any FlutterPlugin, channel: FlutterMethodChannel) {
        channel.setMethodCallHandler { call, result in delegate.handle(call, result: result) }
    }

    func addApplicationDelegate(_ delegate: any FlutterPlugin) { registry?.addDelegate(delegate) }

    func lookupKey(forAsset asset: String) -> String { asset }

    func lookupKey(forAsset asset: String, fromPackage package: String) -> String { "packages/\(package)/\(asset)" }
}

/// The bridge of the app's own Dart half.
@MainActor
final class ImplicitEngine: NSObject, FlutterImplicitEngineBridge {
    let pluginRegistry: any FlutterPluginRegistry

    init(_ registry: any FlutterPluginRegistry) {
        pluginRegistry = registry
        super.init()
    }
}
