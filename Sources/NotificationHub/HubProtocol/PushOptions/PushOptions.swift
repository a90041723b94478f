import PushCore

/// How a notification is carried, by the header fields that Azure's clients send with it.
package struct PushOptions: Hashable, Sendable {
    /// `apns-push-type`.
    package var pushType: PushType?
    /// `apns-priority`, or `ServiceBusNotification-Urgency`.
    package var priority = Priority.immediate
    /// `apns-expiration`, `ServiceBusNotification-Apns-Expiry` or `ServiceBusNotification-TimeToLive`.
    package var expiry = Expiry.policyDefault
    /// `apns-collapse-id`.
    package var collapseID: String?

    /// Header fields that are kept with a send, by their names in lower case.
    package static let names: Set<String> = [
        "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id", "x-apns-push-type", "x-apns-priority",
        "x-apns-expiration", "servicebusnotification-apns-expiry", "servicebusnotification-apnsexpiry",
        "servicebusnotification-timetolive", "servicebusnotification-urgency",
    ]

    /// Header fields of a direct send to a browser: the keys of the subscription whose endpoint is the device handle.
    package static let subscriptionKeys = (p256dh: "p256dh", auth: "auth")

    /// Reads the fields.
    ///
    /// - Parameter headers: The header fields, by their names in lower case.
    /// - Throws: which field was wrong, and what would be right.
    package init(_ headers: [String: String], now: Timestamp) throws(InstallationError) {
        func first(_ names: String...) -> (String, String)? {
            for name in names { if let value = headers[name], !value.isEmpty { return (name, value) } }
            return nil
        }
        if let (name, text) = first("apns-push-type", "x-apns-push-type") {
            guard let type = PushType(rawValue: text.lowercased()) else {
                throw InstallationError(name, "there is no push type \"\(text)\"")
            }
            pushType = type
        }
        if let (name, text) = first("apns-priority", "x-apns-priority") {
            guard let priority = UInt8(text).flatMap(Priority.init) else {
                throw InstallationError(name, "\"\(text)\" is not 10, 5 or 1")
            }
            self.priority = priority
        } else if let (name, text) = first("servicebusnotification-urgency") {
            switch text.lowercased() {
            case "very-low", "low": priority = .low
            case "normal": priority = .considerate
            case "high": priority = .immediate
            default: throw InstallationError(name, "\"\(text)\" is not very-low, low, normal or high")
            }
        }
        if let (name, text) = first("apns-expiration", "x-apns-expiration") {
            guard let seconds = Int64(text), seconds >= 0 else {
                throw InstallationError(name, "\"\(text)\" is not whole seconds since 1970")
            }
            expiry = seconds == 0 ? .once : .until(Timestamp(seconds: seconds))
        } else if let (name, text) = first("servicebusnotification-apns-expiry", "servicebusnotification-apnsexpiry") {
            guard let instant = text == "0" ? Timestamp(rawValue: 0) : WireTime.read(text) else {
                throw InstallationError(name, "\"\(text)\" is no instant such as 2030-01-01T00:00:00Z")
            }
            expiry = text == "0" ? .once : .until(instant)
        } else if let (name, text) = first("servicebusnotification-timetolive") {
            guard let seconds = Int64(text), (0...315_360_000).contains(seconds) else {
                throw InstallationError(name, "\"\(text)\" is not a number of seconds")
            }
            expiry = seconds == 0 ? .once : .until(now.adding(milliseconds: seconds * 1000))
        }
        if let text = headers["apns-collapse-id"] {
            guard (1...64).contains(text.utf8.count) else {
                throw InstallationError("apns-collapse-id", "a collapse id has 1 to 64 bytes")
            }
            collapseID = text
        }
    }
}
