import Testing

@testable import AppHost

struct MissedMethodsTests {
    private static let token =
        "application(_: UIKit.UIApplication, didRegisterForRemoteNotificationsWithDeviceToken: FoundationEssentials.Data) -> ()"
    private static let fetch =
        "application(_: UIKit.UIApplication, didReceiveRemoteNotification: [Swift.AnyHashable : Any], "
        + "fetchCompletionHandler: (UIKit.UIBackgroundFetchResult) -> ()) -> ()"
    private static let awaited =
        "application(_: UIKit.UIApplication, didReceiveRemoteNotification: [Swift.AnyHashable : Any]) async -> "
        + "UIKit.UIBackgroundFetchResult"
    private static let old =
        "application(_: UIKit.UIApplication, didReceiveRemoteNotification: [Swift.AnyHashable : Any]) -> ()"
    private static let active = "applicationDidBecomeActive(UIKit.UIApplication) -> ()"
    private static let all = [token, fetch, awaited, old, active]

    private static let missed = MissedMethods(
        wanted: all.compactMap { MissedMethods.Method($0) }.map { (owner: "UIApplicationDelegate", method: $0) })

    private func fault(_ text: String, hasNonEscaping: Bool = false) throws -> String? {
        Self.missed.fault(of: try #require(MissedMethods.Method(text, hasNonEscaping: hasNonEscaping)))
    }

    @Test(arguments: all)
    func `what is written as the protocol has it is called`(text: String) throws {
        #expect(try fault(text) == nil)
        #expect(try fault(text.replacing("(UIKit.UIB", with: "@Swift.MainActor (UIKit.UIB")) == nil)
    }

    @Test(arguments: [
        // A missing underscore, a letter too few or too many, a label that is almost the same.
        token.replacing("(_:", with: "(application:"),
        token.replacing("DeviceToken", with: "DeviceTokens"),
        token.replacing("Notifications", with: "Notification"),
        fetch.replacing("fetchCompletionHandler", with: "completionHandler"),
        "applicationDidBecameActive(UIKit.UIApplication) -> ()",
        "applicationDidBecomeActive(application: UIKit.UIApplication) -> ()",
    ])
    func `a name that is one letter or label away is told`(text: String) throws {
        let fault = try #require(try fault(text))
        #expect(fault.contains("not quite that of UIApplicationDelegate's application"))
    }

    @Test(arguments: [
        fetch.replacing("[Swift.AnyHashable : Any]", with: "[Swift.String : Any]"),
        old.replacing("-> ()", with: "-> Swift.Bool"),
        active.replacing("(UIKit.UIApplication)", with: "(UIKit.UIApplication?)"),
    ])
    func `other types are told`(text: String) throws {
        let fault = try #require(try fault(text))
        #expect(fault.contains("other types than the protocol's: UIApplicationDelegate has it as application"))
    }

    @Test func `a handler that does not escape is told`() throws {
        #expect(try #require(try fault(Self.fetch, hasNonEscaping: true)).contains("@escaping"))
    }

    @Test(arguments: [
        "application(_: UIKit.UIApplication, show: Swift.String) -> ()", "show(Swift.String) -> ()", "add() -> ()",
        "application(_: UIKit.UIApplication) -> ()", "applicationName() -> Swift.String",
    ])
    func `what is meant for something else is left alone`(text: String) throws { #expect(try fault(text) == nil) }

    @Test func `what is private or no method is passed over`() {
        for text in ["(tell in _89)(Swift.Int) -> ()", "window.getter : UIKit.UIWindow?", "", "f(", "f(a: [", "f)"] {
            #expect(MissedMethods.Method(text) == nil, "\(text)")
        }
    }
}
