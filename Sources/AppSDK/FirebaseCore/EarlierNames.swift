// Names of Firebase 3 and 4 that apps' code still has.

/// An earlier name of ``FirebaseApp``.
@available(*, deprecated, renamed: "FirebaseApp")
public typealias FIRApp = FirebaseApp

/// An earlier name of ``FirebaseOptions``.
@available(*, deprecated, renamed: "FirebaseOptions")
public typealias FIROptions = FirebaseOptions

/// An earlier name of ``FirebaseConfiguration``.
@available(*, deprecated, renamed: "FirebaseConfiguration")
public typealias FIRConfiguration = FirebaseConfiguration

/// An earlier name of ``FirebaseLoggerLevel``.
@available(*, deprecated, renamed: "FirebaseLoggerLevel")
public typealias FIRLoggerLevel = FirebaseLoggerLevel

extension FirebaseApp {
    /// The default app; an earlier name of ``app()``.
    @available(*, deprecated, renamed: "app()")
    public class func defaultApp() -> FirebaseApp? { app() }
}
