import AgentProtocol
import AppHost
import Foundation

/// An app's access to its notifications.
///
/// Completion handlers run on a private serial queue, in the order of the calls, when the agent has answered: without
/// an agent they wait for one. They do not wait for the main thread, which may wait for them.
///
/// Sendable is unchecked for `storedDelegate`, which is read and written under `lock` only.
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    private static let shared = UNUserNotificationCenter(host: .shared)

    let host: AppHost
    let completions = DispatchQueue(label: "aldaba.usernotifications.completions")
    private let lock = NSLock()
    private weak var storedDelegate: (any UNUserNotificationCenterDelegate)?

    /// Makes a center of a host. An app has one, ``current()``; tests make others.
    package init(host: AppHost) {
        self.host = host
        super.init()
    }

    /// There is one center in an app.
    @available(*, unavailable, message: "use UNUserNotificationCenter.current()")
    public override init() { fatalError("use UNUserNotificationCenter.current()") }

    /// The center of this app.
    open class func current() -> UNUserNotificationCenter { shared }

    /// Takes this app's notifications and responses; held weakly.
    ///
    /// Set it before `didFinishLaunching` returns. Responses wait until there is one.
    open weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { storedDelegate } }
        set {
            lock.withLock { storedDelegate = newValue }
            let exists = newValue != nil
            if let newValue {
                DelegateCheck.begin(of: Swift.type(of: newValue), as: [(any UNUserNotificationCenterDelegate).self])
            }
            host.onMain { [self] receivers in
                attach(to: host)
                // An app without UIKit's life cycle has launched when it takes notifications.
                if exists, receivers.application == nil { host.finishLaunch() }
            }
            host.setRespondent(exists: exists)
        }
    }

    /// Always false: content extensions do not exist on Linux.
    open var supportsContentExtensions: Bool { false }

    /// Asks the person to allow notifications; once, later calls give the same answer.
    ///
    /// `UNError.notificationsNotAllowed` when this app has no bundle id that an agent could know.
    @preconcurrency
    open func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        host.start()
        host.requestAuthorization(options: options.rawValue) { [completions] granted in
            completions.async { completionHandler(granted ?? false, granted == nil ? Self.unreachable : nil) }
        }
    }

    /// Reads what this app may do.
    @preconcurrency
    open func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
        host.start()
        host.requestSettings { [completions] settings in
            completions.async { completionHandler(settings.map { UNNotificationSettings($0) } ?? .undetermined) }
        }
    }

    // MARK: Requests, the list, categories and the badge: all go to the agent, in the order of the calls.

    /// Has a notification appear when its trigger fires, or at once without one. It replaces one with the same
    /// identifier.
    ///
    /// The handler is called when the agent has stored it, or with the error: `UNError.notificationInvalidNoContent`
    /// without title, subtitle, body, sound and badge, `UNError.notificationInvalidNoDate` for a trigger without a date
    /// in the future, `UNError.notificationsNotAllowed` and those of attachments as the agent finds them;
    /// `CocoaError.coderInvalidValue` for a user info that is no property list, and for content of more than a
    /// mebibyte.
    @preconcurrency
    open func add(
        _ request: UNNotificationRequest,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        do {
            let command = try NotificationCenterCommand.add(request.checked())
            ask(command) { completionHandler?($0.error) }
        } catch {
            fail(error, completionHandler)
        }
    }

    /// Reads which requests have not fired yet.
    @preconcurrency
    open func getPendingNotificationRequests(
        completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void
    ) {
        ask(.pending) { answer in
            guard case .success(.pending(let requests)) = answer else { return completionHandler([]) }
            completionHandler(requests.map { UNNotificationRequest($0) })
        }
    }

    /// Takes back requests that have not fired yet.
    open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        ask(.removePending(identifiers)) { _ in }
    }

    /// Takes back all requests that have not fired yet.
    open func removeAllPendingNotificationRequests() { ask(.removePending(nil)) { _ in } }

    /// Reads which notifications were shown and are still in the list.
    @preconcurrency
    open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
        ask(.delivered) { answer in
            guard case .success(.delivered(let notifications)) = answer else { return completionHandler([]) }
            completionHandler(notifications.map { UNNotification($0) })
        }
    }

    /// Takes notifications out of the list and off the screen.
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        ask(.removeDelivered(identifiers)) { _ in }
    }

    /// Takes all of this app's notifications out of the list and off the screen.
    open func removeAllDeliveredNotifications() { ask(.removeDelivered(nil)) { _ in } }

    /// Adds kinds of notification to the app's, in place of those with the same identifiers. What is delivered after
    /// this call has them, over restarts too. Of several with one identifier the one that the app made last counts.
    ///
    /// An app and its service extension share one set, and neither takes away what the other has set; on Apple's
    /// systems the later call does. An empty set takes all away. At most 256 are kept: those that the extension set
    /// longest ago go first, and the agent's log says so.
    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        let counting = Dictionary(grouping: categories, by: \.identifier).values.compactMap { same in
            same.max { $0.order < $1.order }
        }
        ask(.setCategories(counting.map(\.wire).sorted { $0.identifier < $1.identifier })) { _ in }
    }

    /// Reads the app's kinds of notification.
    @preconcurrency
    open func getNotificationCategories(
        completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void
    ) {
        ask(.categories) { answer in
            guard case .success(.categories(let categories)) = answer else { return completionHandler([]) }
            completionHandler(Set(categories.map { UNNotificationCategory($0) }))
        }
    }

    /// Sets the number on the app's icon; 0 takes it away.
    ///
    /// `UNError.badgeInputInvalid` for a negative number, and for one beyond 32 bits.
    @preconcurrency
    open func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        guard (0...Int(Int32.max)).contains(newBadgeCount) else {
            let error = UNError(.badgeInputInvalid, "A badge is a number from 0 to \(Int32.max), not \(newBadgeCount).")
            return fail(error, completionHandler)
        }
        ask(.setBadge(newBadgeCount)) { completionHandler?($0.error) }
    }

    // MARK: The same, awaited

    /// Asks the person to allow notifications; whether they did. See the form with a completion handler.
    open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            requestAuthorization(options: options) { granted, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: granted) }
            }
        }
    }

    /// The notification settings of this app.
    open func notificationSettings() async -> UNNotificationSettings {
        await withCheckedContinuation { continuation in
            getNotificationSettings { continuation.resume(returning: $0) }
        }
    }

    /// Has a notification appear. Returns when the agent has stored it; throws the error of the other form.
    open func add(_ request: UNNotificationRequest) async throws {
        try await awaited { add(request, withCompletionHandler: $0) }
    }

    /// The requests that have not fired yet.
    open func pendingNotificationRequests() async -> [UNNotificationRequest] {
        await withCheckedContinuation { continuation in
            getPendingNotificationRequests { continuation.resume(returning: $0) }
        }
    }

    /// The notifications that were shown and are still in the list.
    open func deliveredNotifications() async -> [UNNotification] {
        await withCheckedContinuation { continuation in
            getDeliveredNotifications { continuation.resume(returning: $0) }
        }
    }

    /// The app's kinds of notification.
    open func notificationCategories() async -> Set<UNNotificationCategory> {
        await withCheckedContinuation { continuation in
            getNotificationCategories { continuation.resume(returning: $0) }
        }
    }

    /// Sets the number on the app's icon; throws the error of the other form.
    open func setBadgeCount(_ newBadgeCount: Int) async throws {
        try await awaited { setBadgeCount(newBadgeCount, withCompletionHandler: $0) }
    }
}
