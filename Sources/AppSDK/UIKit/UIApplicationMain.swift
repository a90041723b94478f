import Foundation

extension UIApplicationDelegate where Self: UIResponder {
    /// Runs the app, for `@main`. Does not return.
    public static func main() {
        let delegate = Self()
        UIApplication.shared.watchTermination()
        UIApplication.shared.begin(with: delegate)
        while true { RunLoop.main.run() }
    }
}

/// Runs the app whose delegate is of the class with this name (`Module.Class`). Does not return; ends the program
/// where there is no such class.
@preconcurrency @MainActor
@discardableResult
public func UIApplicationMain(
    _ argc: Int32, _ argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, _ principalClassName: String?,
    _ delegateClassName: String?
) -> Int32 {
    guard let name = delegateClassName, let type = NSClassFromString(name) as? UIResponder.Type,
        let delegate = type.init() as? any UIApplicationDelegate
    else {
        fatalError("UIApplicationMain needs the name of a class that is a UIResponder and a UIApplicationDelegate.")
    }
    UIApplication.shared.watchTermination()
    UIApplication.shared.begin(with: delegate)
    while true { RunLoop.main.run() }
}
