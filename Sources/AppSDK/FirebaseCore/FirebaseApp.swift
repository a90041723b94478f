import Foundation
import Synchronization

/// An app's entry to Firebase.
public final class FirebaseApp: NSObject, Sendable {
    private struct Apps {
        var byName: [String: FirebaseApp] = [:]
        var observers: [@Sendable (FirebaseApp) -> Void] = []
    }

    private static let apps = Mutex(Apps())
    /// The name of the default app.
    private static let defaultName = "__FIRAPP_DEFAULT"

    /// The name by which ``app(name:)`` finds it.
    public let name: String
    private let givenOptions: FirebaseOptions
    private let collects = Mutex(true)

    private init(name: String, options: FirebaseOptions) {
        self.name = name
        givenOptions = options
        super.init()
    }

    /// A copy of the options that it was configured with.
    public var options: FirebaseOptions { givenOptions.copy() as? FirebaseOptions ?? givenOptions }

    /// Kept for existing code; nothing is collected here.
    public var isDataCollectionDefaultEnabled: Bool {
        get { collects.withLock { $0 } }
        set { collects.withLock { $0 = newValue } }
    }

    /// Configures the default app by its file. Without a file the app stays unconfigured, and standard error has the
    /// missing file and the paths where it is sought.
    public class func configure() {
        switch FirebaseOptions.found() {
        case .success(let options): configure(options: options)
        case .failure(let fault):
            report("FirebaseApp.configure() has no effect: \(fault)")
        }
    }

    /// Configures the default app.
    public class func configure(options: FirebaseOptions) { configure(name: defaultName, options: options) }

    /// Configures an app of this name. A second call has no effect, and is reported on standard error.
    public class func configure(name: String, options: FirebaseOptions) {
        guard !name.isEmpty else { return report("an app of Firebase needs a name") }
        let app = FirebaseApp(name: name, options: options.copy() as? FirebaseOptions ?? options)
        let observers: [@Sendable (FirebaseApp) -> Void]? = apps.withLock { apps in
            guard apps.byName[name] == nil else { return nil }
            apps.byName[name] = app
            return apps.observers
        }
        guard let observers else { return report("the app \(app.shownName) of Firebase is configured already") }
        for observer in observers { observer(app) }
    }

    /// The default app; `nil` before ``configure()``.
    public class func app() -> FirebaseApp? { app(name: defaultName) }

    /// The app of this name; `nil` where none was configured.
    public class func app(name: String) -> FirebaseApp? { apps.withLock { $0.byName[name] } }

    /// All apps by their names; `nil` where there is none.
    public class var allApps: [String: FirebaseApp]? {
        let all = apps.withLock { $0.byName }
        return all.isEmpty ? nil : all
    }

    /// Forgets the app; its name may be configured again.
    public func delete(_ completion: @escaping @Sendable (Bool) -> Void) {
        completion(
            Self.apps.withLock { apps in
                guard apps.byName[name] === self else { return false }
                apps.byName[name] = nil
                return true
            })
    }

    /// Forgets the app; its name may be configured again.
    public func delete() async -> Bool {
        await withCheckedContinuation { continuation in delete { continuation.resume(returning: $0) } }
    }

    /// Whether it is the default app.
    package var isDefault: Bool { name == Self.defaultName }

    private var shownName: String { isDefault ? "that has no name" : "\"\(name)\"" }

    /// Calls an observer for every app that is configured, including the present ones.
    package class func observe(_ observer: @escaping @Sendable (FirebaseApp) -> Void) {
        let known = apps.withLock { apps in
            apps.observers.append(observer)
            return Array(apps.byName.values)
        }
        for app in known { observer(app) }
    }

    /// Reports something to the developer.
    package class func report(_ text: String) {
        // A terminal that is gone is no reason to end the app.
        try? FileHandle.standardError.write(contentsOf: Data("aldaba: \(text)\n".utf8))
    }
}

/// The library's log settings, for existing code.
public final class FirebaseConfiguration: NSObject, Sendable {
    /// The one configuration.
    public static let shared = FirebaseConfiguration()

    private override init() { super.init() }

    /// Kept for existing code: the agent has the log.
    public func setLoggerLevel(_ loggerLevel: FirebaseLoggerLevel) {}
}

/// How much is logged, in existing code. Raw values are Firebase's.
public enum FirebaseLoggerLevel: Int, Sendable {
    /// Errors only.
    case error = 3
    /// Warnings too.
    case warning = 4
    /// Notices too.
    case notice = 5
    /// Information too.
    case info = 6
    /// Everything.
    case debug = 7
    /// The least.
    public static let min = FirebaseLoggerLevel.error
    /// The most.
    public static let max = FirebaseLoggerLevel.debug
}
