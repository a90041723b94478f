import AgentWire
import PushModel

/// What a service extension said of one notification.
package enum ExtensionAnswer: Sendable, Hashable {
    /// This is to be shown.
    case changed(NotificationContent)
    /// It is to be shown as it came.
    case unchanged
    /// Its content cannot be sent, and why.
    case unsendable(reason: String)
}

/// What came of one notification, and of the files that were fetched for it.
package struct ExtensionReport: Sendable, Hashable {
    /// What the extension said, or why it said nothing.
    package var result: ExtensionResult
    /// Why files did not come, with the reasons of `MediaFailure`; `nil` where all did.
    package var mediaFailures: String?
}

/// What came of one notification that waited for its extension.
package enum ExtensionResult: Sendable, Hashable {
    /// The extension's answer, which is not checked yet.
    case answered(ExtensionAnswer)
    /// There is none: how it ended, and why in words.
    case failed(ExtensionOutcome, note: String)
}
