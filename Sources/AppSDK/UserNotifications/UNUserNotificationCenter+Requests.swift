import AgentProtocol
import Foundation

// Requests, the list of what was delivered, categories and the badge: all go to the agent, in the order of the calls.
extension UNUserNotificationCenter {
    /// Has a notification appear when its trigger fires, or at once without one. It replaces one with the same
    /// identifier.
    ///
    /// The handler is called when the agent has stored it, or with the error: `UNError.notificationInvalidNoContent`
    /// without title, subtitle, body, sound and badge, `UNError.notificationInvalidNoDate` for a trigger without a date
    /// in the future, `UNError.notificationsNotAllowed` and those of attachments as the agent finds them;
    /// `CocoaError.coderInvalidValue` for a user info that is no property list, and for content of more than a
    /// mebibyte.
    @preconcurrency
    public func add(
        _ request: UNNotificationRequest,
        withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        do {
            let command = try CenterCommand.add(request.checked())
            ask(command) { completionHandler?($0.error) }
        } catch {
            fail(error, completionHandler)
        }
    }

    /// Reads which requests have not fired yet.
    @preconcurrency
    public func getPendingNotificationRequests(
        completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void
    ) {
        ask(.pending) { answer in
            guard case .success(.pending(let requests)) = answer else { return completionHandler([]) }
            completionHandler(requests.map { UNNotificationRequest($0) })
        }
    }

    /// Takes back requests that have not fired yet.
    public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        ask(.removePending(identifiers)) { _ in }
    }

    /// Takes back all requests that have not fired yet.
    public func removeAllPendingNotificationRequests() { ask(.removePending(nil)) { _ in } }

    /// Reads which notifications were shown and are still in the list.
    @preconcurrency
    public func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
        ask(.delivered) { answer in
            guard case .success(.delivered(let notifications)) = answer else { return completionHandler([]) }
            completionHandler(notifications.map { UNNotification($0) })
        }
    }

    /// Takes notifications out of the list and off the screen.
    public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {
        ask(.removeDelivered(identifiers)) { _ in }
    }

    /// Takes all of this app's notifications out of the list and off the screen.
    public func removeAllDeliveredNotifications() { ask(.removeDelivered(nil)) { _ in } }

    /// Adds kinds of notification to the app's, in place of those with the same identifiers. What is delivered after
    /// this call has them, over restarts too. Of several with one identifier the one that the app made last counts.
    ///
    /// An app and its service extension share one set, and neither takes away what the other has set; on Apple's
    /// systems the later call does. An empty set takes all away. At most 256 are kept: those that the extension set
    /// longest ago go first, and the agent's log says so.
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        let counting = Dictionary(grouping: categories, by: \.identifier).values.compactMap { same in
            same.max { $0.order < $1.order }
        }
        ask(.setCategories(counting.map(\.wire).sorted { $0.identifier < $1.identifier })) { _ in }
    }

    /// Reads the app's kinds of notification.
    @preconcurrency
    public func getNotificationCategories(
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
    public func setBadgeCount(
        _ newBadgeCount: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        guard (0...Int(Int32.max)).contains(newBadgeCount) else {
            let error = UNError(.badgeInputInvalid, "A badge is a number from 0 to \(Int32.max), not \(newBadgeCount).")
            return fail(error, completionHandler)
        }
        ask(.setBadge(newBadgeCount)) { completionHandler?($0.error) }
    }
}

// The same, awaited.
extension UNUserNotificationCenter {
    /// Asks the person to allow notifications; whether they did. See the form with a completion handler.
    public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            requestAuthorization(options: options) { granted, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: granted) }
            }
        }
    }

    /// The notification settings of this app.
    public func notificationSettings() async -> UNNotificationSettings {
        await withCheckedContinuation { continuation in
            getNotificationSettings { continuation.resume(returning: $0) }
        }
    }

    /// Has a notification appear. Returns when the agent has stored it; throws the error of the other form.
    public func add(_ request: UNNotificationRequest) async throws {
        try await awaited { add(request, withCompletionHandler: $0) }
    }

    /// The requests that have not fired yet.
    public func pendingNotificationRequests() async -> [UNNotificationRequest] {
        await withCheckedContinuation { continuation in
            getPendingNotificationRequests { continuation.resume(returning: $0) }
        }
    }

    /// The notifications that were shown and are still in the list.
    public func deliveredNotifications() async -> [UNNotification] {
        await withCheckedContinuation { continuation in
            getDeliveredNotifications { continuation.resume(returning: $0) }
        }
    }

    /// The app's kinds of notification.
    public func notificationCategories() async -> Set<UNNotificationCategory> {
        await withCheckedContinuation { continuation in
            getNotificationCategories { continuation.resume(returning: $0) }
        }
    }

    /// Sets the number on the app's icon; throws the error of the other form.
    public func setBadgeCount(_ newBadgeCount: Int) async throws {
        try await awaited { setBadgeCount(newBadgeCount, withCompletionHandler: $0) }
    }

    private func awaited(_ call: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            call { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }
}

extension UNNotificationRequest {
    /// The request as it is sent to the agent, when there is something to show and a time to show it.
    fileprivate func checked() throws -> NotificationRequest {
        guard !content.values.isEmpty else {
            throw UNError(
                .notificationInvalidNoContent,
                "The notification \"\(identifier)\" has no title, subtitle, body, sound or badge.")
        }
        if let calendar = trigger as? UNCalendarNotificationTrigger, calendar.nextTriggerDate() == nil {
            throw UNError(
                .notificationInvalidNoDate, "No date in the future matches the trigger of \"\(identifier)\".")
        }
        do throws(UnsendableContent) {
            return try forWire()
        } catch {
            throw error.error
        }
    }
}

extension Result {
    /// Why it failed; `nil` when it did not.
    fileprivate var error: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
