import AgentProtocol
import Platform
import PushCore

/// The checked result of a service extension: the content to show, and the outcome for the timeline.
package struct CheckedExtension: Sendable, Hashable {
    /// The content to show; `nil` for that of the payload.
    package let content: NotificationContent?
    /// How it ended.
    package let outcome: ExtensionOutcome
    /// Why it is shown as it came, or without files.
    package let note: String?

    /// Files that the store has copies of, and that are deleted once these are named in it.
    package let sources: [String]

    /// The result of a check.
    package init(
        _ outcome: ExtensionOutcome, _ content: NotificationContent? = nil, sources: [String] = [], note: String? = nil
    ) {
        self.content = content
        self.sources = sources
        self.outcome = outcome
        self.note = note
    }
}

extension StoreChange {
    /// A notification waits no longer for its extension: it is stored as it appears.
    ///
    /// - Parameters:
    ///   - version: The extension's version, for the timeline; `nil` where it has none.
    ///   - plan: The plan of its presentation, with the extension's content.
    ///   - duration: The time that the extension took.
    package static func extended(
        _ id: NotificationID, _ checked: CheckedExtension, by version: String?, as plan: PlannedNotification,
        after duration: Duration, at: Timestamp
    ) -> StoreChange {
        return .extended(
            id, content: checked.content, plan.disposition,
            outcome: checked.outcome.text(milliseconds: duration.milliseconds),
            note: ExtensionOutcome.note(checked.note, version: version), at: at)
    }
}
