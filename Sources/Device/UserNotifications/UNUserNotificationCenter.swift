import AgentWire
import AppHost
import Foundation

/// An app's door to notifications.
public final class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    // Sendable is unchecked for `storedDelegate`, which is read and written under `lock` only.

    private static let shared = UNUserNotificationCenter(host: .shared)

    private let host: AppHost
    private let completions = DispatchQueue(label: "aldaba.usernotifications.completions")
    private let lock = NSLock()
    private weak var storedDelegate: (any UNUserNotificationCenterDelegate)?

    package init(host: AppHost) {
        self.host = host
        super.init()
    }

    /// The center of this app.
    public class func current() -> UNUserNotificationCenter { shared }

    /// Takes this app's notifications and responses; held weakly.
    ///
    /// Set it before `didFinishLaunching` returns. Responses wait until there is one.
    public var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { storedDelegate } }
        set {
            lock.withLock { storedDelegate = newValue }
            let exists = newValue != nil
            host.post { [self] host in
                attach(to: host)
                host.setRespondent(exists: exists)
                // An app without UIKit's life cycle has launched when it takes notifications.
                if exists, host.applicationReceiver == nil { host.finishLaunch() }
            }
        }
    }

    /// Asks the person to allow notifications; once, later calls give the same answer.
    ///
    /// The handler runs on a private serial queue, when the agent has answered: without an agent it waits.
    /// `UNError.notificationsNotAllowed` when this app is none that an agent could know.
    public func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        host.post { [self] host in
            attach(to: host)
            host.requestAuthorization(options: options.rawValue) { [completions] granted in
                completions.async {
                    completionHandler(granted ?? false, granted == nil ? UNError(.notificationsNotAllowed) : nil)
                }
            }
        }
    }

    /// Asks the person to allow notifications; whether they did.
    public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            requestAuthorization(options: options) { granted, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: granted) }
            }
        }
    }

    /// Reads what this app may do. The handler runs on a private serial queue.
    public func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
        host.post { [self] host in
            attach(to: host)
            host.requestSettings { [completions] settings in
                completions.async {
                    completionHandler(settings.map { UNNotificationSettings($0) } ?? .undetermined)
                }
            }
        }
    }

    /// Reads what this app may do.
    public func notificationSettings() async -> UNNotificationSettings {
        await withCheckedContinuation { continuation in
            getNotificationSettings { continuation.resume(returning: $0) }
        }
    }

    /// Makes this center the one that the host asks, and starts the host.
    @MainActor
    package func attach(to host: AppHost) {
        if host.notificationReceiver == nil { host.notificationReceiver = NotificationDelivery(center: self) }
        host.start()
    }
}

/// Brings what the agent hands over to the center's delegate.
@MainActor
private final class NotificationDelivery: NotificationReceiver {
    private let center: UNUserNotificationCenter

    init(center: UNUserNotificationCenter) { self.center = center }

    func present(_ notification: DeliveredNotification, answer: @escaping @Sendable (UInt) -> Void) {
        guard let delegate = center.delegate else { return answer(0) }
        delegate.userNotificationCenter(center, willPresent: UNNotification(notification)) { answer($0.rawValue) }
    }

    func respond(_ response: DeliveredResponse, done: @escaping @Sendable () -> Void) {
        guard let delegate = center.delegate else { return done() }
        delegate.userNotificationCenter(
            center, didReceive: UNNotificationResponse.made(of: response), withCompletionHandler: done)
    }
}

extension UNNotification {
    /// What a payload says, as background handlers and launch options get it: the payload's own members, and
    /// `aldaba.id` (`Int64`) and `aldaba.apns-id` (`String`, where there is one).
    package static func userInfo(of delivered: DeliveredNotification) -> [AnyHashable: Any] {
        var userInfo = PayloadContent.userInfo(payload: delivered.payload)
        userInfo["aldaba.id"] = delivered.id
        userInfo["aldaba.apns-id"] = delivered.apnsID
        return userInfo
    }
}
