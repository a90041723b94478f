import AgentProtocol

/// The conditions that an app's request must meet to be added; its files are checked elsewhere.
package enum RequestRules {
    /// The greatest size of a request, in bytes of JSON: all 64 of an app fit into one answer.
    package static let longestRequest = 14 << 10

    /// The codes of refusals, as `UNError.Code` has them.
    package enum Code {
        /// The app may not show notifications.
        package static let notAllowed = 1
        /// The trigger never fires.
        package static let noDate = 1400
        /// There is nothing to show, or too much.
        package static let noContent = 1401
        /// The badge is no number for an icon.
        package static let badgeInvalid = 1600
    }

    /// The reason why a request is refused; `nil` for one that is accepted.
    ///
    /// - Parameters:
    ///   - authorization: Whether the app may show notifications; `nil` for one that is not installed.
    ///   - triggerFault: Returns the fault in a trigger, `nil` for none. Throws when that is not known.
    package static func refusal(
        of request: NotificationRequest, authorization: AppNotificationRecord.Authorization?,
        triggerFault: (NotificationTrigger) throws -> String?
    ) rethrows -> CenterAnswer? {
        guard let authorization else { return .failed(code: Code.notAllowed, message: "not installed") }
        guard authorization.allows else {
            return .failed(
                code: Code.notAllowed,
                message: authorization == .notDetermined
                    ? "the app has not been allowed to send notifications: ask with requestAuthorization first"
                    : "the person does not allow this app's notifications")
        }
        let content = request.content
        guard content.badge ?? 0 >= 0, content.badge ?? 0 <= Int(Int32.max) else {
            return .failed(code: Code.badgeInvalid, message: "a badge is a number from 0")
        }
        guard content.showsText || content.sound != nil || content.badge != nil else {
            return .failed(code: Code.noContent, message: "it has no title, body, sound nor badge")
        }
        guard isWithinSize(request) else {
            return .failed(code: Code.noContent, message: "it says more than \(longestRequest) bytes")
        }
        return try request.trigger.flatMap(triggerFault).map { .failed(code: Code.noDate, message: $0) }
    }

    /// Whether a request has at most ``longestRequest`` bytes.
    package static func isWithinSize(_ request: NotificationRequest) -> Bool {
        guard let size = try? request.size() else { return false }
        return size <= longestRequest
    }
}
