import AgentProtocol
import PushCore

/// A service extension's answer for a notification.
package enum ExtensionAnswer: Sendable, Hashable {
    /// This is to be shown.
    case changed(NotificationContent)
    /// The notification is to be shown as it came.
    case unchanged
    /// The extension's content cannot be sent, for this reason.
    case unsendable(reason: String)
}

/// The result of a service extension for a notification, and of the files fetched for it.
package struct ExtensionReport: Sendable, Hashable {
    /// The extension's answer, or the reason why there is none.
    package var result: ExtensionResult
    /// Why files did not come, with the reasons of `MediaFailure`; `nil` where all did.
    package var mediaFailures: String?

    /// A result. Each parameter is the property of its name.
    package init(result: ExtensionResult, mediaFailures: String? = nil) {
        self.result = result
        self.mediaFailures = mediaFailures
    }
}

/// The result for a notification that waited for its extension.
package enum ExtensionResult: Sendable, Hashable {
    /// The extension's answer, which is not checked yet.
    case answered(ExtensionAnswer)
    /// There is no answer: the outcome, and the reason for people.
    case failed(ExtensionOutcome, note: String)
}
