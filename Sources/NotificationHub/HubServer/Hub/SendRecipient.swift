import HubProtocol
import PushCore

/// A notification of a send for one installation: a row of the send's report.
package struct SendRecipient: Hashable, Sendable {
    /// The installation's number; 0 for a channel that no installation has.
    package var installation: UInt32
    /// The notification's part among those of the installation: empty, a template's name after a slash, or an index
    /// among channels.
    package var part: String
    /// The installation's id, or the channel.
    package var name: String
    /// The installation's platform.
    package var platform: HubPlatform
    /// The installation's locale, in lower case.
    package var locale: String?
    /// The version of the installation's app.
    package var appVersion: String?
    /// The variant of an experiment that it gets; `nil` without one.
    package var variant: String?
    /// The push service's outcome; `nil` where the notification was not submitted, or is tried again.
    package var outcome: SendOutcome?
    /// The push service's own reason, or the reason why the notification was not submitted.
    package var reason: String?
    /// The notification's end, or its progress so far.
    package var end: SendReport.End
    /// The stages that the notification is known to have reached.
    package var reached: Reached = []
    /// The time at which it was submitted last.
    package var at: Timestamp
    /// The number of times it was submitted.
    package var attempts: Int
    /// The time at which it was submitted first, plus the quiet hours that retries waited for. Retries end half an hour
    /// after it.
    package var firstAt: Timestamp
    /// The time of the next retry; `nil` where there is none.
    package var retryAt: Timestamp?
    /// Whether this server learns more of it later.
    package var isTraced = false
    /// The broadcast part that it belongs to; `nil` where it was submitted separately.
    package var list: Int64?
    /// The recipient's copy of the broadcast; `nil` where none was made.
    package var notification: NotificationID?

    /// The stages that a notification is known to have reached.
    package typealias Reached = RecipientReached

    /// Creates an instance from its properties.
    package init(
        installation: UInt32, part: String, name: String, platform: HubPlatform, locale: String? = nil,
        appVersion: String? = nil, outcome: SendOutcome? = nil, reason: String? = nil, end: SendReport.End,
        at: Timestamp,
        attempts: Int = 0, firstAt: Timestamp? = nil, retryAt: Timestamp? = nil
    ) {
        self.installation = installation
        self.part = part
        self.name = name
        self.platform = platform
        self.locale = locale
        self.appVersion = appVersion
        self.outcome = outcome
        self.reason = reason
        self.end = end
        self.at = at
        self.attempts = attempts
        self.firstAt = firstAt ?? at
        self.retryAt = retryAt
    }

    /// A row for a targeted installation to which nothing is sent.
    package static func ineligible(
        _ number: UInt32, _ found: StoredInstallation?, why: String, at now: Timestamp
    ) -> SendRecipient {
        SendRecipient(
            installation: number, part: "", name: found?.installation.id ?? "",
            platform: found?.installation.platform ?? .aldaba, locale: found?.installation.locale?.lowercased(),
            appVersion: found?.installation.appVersion, reason: why, end: .ineligible, at: now)
    }
}
