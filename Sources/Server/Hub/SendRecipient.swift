import Audience
import HubWire
import PushModel

/// One notification of a send for one installation: a row of the send's report.
package struct SendRecipient: Hashable, Sendable {
    /// The installation's number; 0 for a channel that no installation has.
    package var installation: UInt32
    /// Which of the installation's notifications it is: empty, a template's name behind a stroke, or a place among channels.
    package var part: String
    /// The installation's id, or the channel.
    package var name: String
    /// The installation's platform.
    package var platform: HubPlatform
    /// The installation's locale, in lower case.
    package var locale: String?
    /// The version of the installation's app.
    package var appVersion: String?
    /// The variant of an experiment that it got or is to get; `nil` without one.
    package var variant: String?
    /// What the push service said; `nil` where it was not asked, or is asked again.
    package var outcome: SendOutcome?
    /// The push service's own word, or why it was not asked.
    package var reason: String?
    /// How it ended, or how far it is.
    package var end: SendReport.End
    /// What is known to have happened.
    package var reached: Reached = []
    /// When it was handed over last.
    package var at: Timestamp
    /// How often it was handed over.
    package var attempts: Int
    /// When it was handed over first, plus the quiet hours that retries waited for. Retries end half an hour after it.
    package var firstAt: Timestamp
    /// When it is tried again; `nil` where it is not.
    package var retryAt: Timestamp?
    /// Whether this server knows more of it later.
    package var isTraced = false
    /// The broadcast part that it belongs to; `nil` where it was handed over by itself.
    package var list: Int64?
    /// The copy of the broadcast that is theirs; `nil` where none was made.
    package var notification: NotificationID?

    /// What is known to have happened to it.
    package typealias Reached = RecipientReached

    /// Brings the parts together.
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

    /// Somebody who was meant and to whom nothing is sent.
    package static func ineligible(
        _ number: UInt32, _ found: StoredInstallation?, why: String, at now: Timestamp
    ) -> SendRecipient {
        SendRecipient(
            installation: number, part: "", name: found?.installation.id ?? "",
            platform: found?.installation.platform ?? .aldaba, locale: found?.installation.locale?.lowercased(),
            appVersion: found?.installation.appVersion, reason: why, end: .ineligible, at: now)
    }
}

/// When a notification that a push service could not take is tried again.
package enum RetryRule {
    /// After the first attempt it is tried again for so long: half an hour, in milliseconds.
    static let patience: Int64 = 1_800_000
    /// The longest pause of our own: five minutes, in milliseconds.
    private static let longestPause: Int64 = 300_000

    /// The pause after so many attempts that failed, in milliseconds: it doubles from a second to five minutes.
    package static func pause(after attempts: Int) -> Int64 {
        min(longestPause, 1000 << Int64(min(max(attempts - 1, 0), 20)))
    }

    /// The next attempt; `nil` where it is given up. Pauses double from a second; the push service's own wish comes first.
    ///
    /// - Parameter attempts: How often it was handed over, this time counted.
    static func next(after wish: Int64, attempts: Int, firstAt: Timestamp, now: Timestamp) -> Timestamp? {
        let pause = max(wish, Self.pause(after: attempts))
        let next = now.adding(milliseconds: pause)
        return next.milliseconds(since: firstAt) <= patience ? next : nil
    }
}
