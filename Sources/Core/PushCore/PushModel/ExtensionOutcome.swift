/// The outcome of a notification's app service extension. The names are in the timeline and in counts.
package enum ExtensionOutcome: String, Sendable, CaseIterable {
    /// The extension changed the notification.
    case changed
    /// The extension returned the notification unchanged.
    case unchanged
    /// The extension returned content without text.
    case emptied
    /// An attachment was refused.
    case attachmentRefused
    /// The extension returned content that cannot be sent or stored.
    case unsendable
    /// The extension did not respond within its time.
    case timedOut
    /// The extension's process ended, or disconnected from the agent, before it responded.
    case crashed
    /// The extension's process exceeded its memory limit.
    case tooMuchMemory
    /// The extension's process could not be started.
    case notStarted
    /// The queue before it was too long or too slow.
    case busy
    /// The app, or its extension, was removed or reinstalled meanwhile.
    case interrupted

    /// Whether the person sees the extension's result, or it would have been the same.
    package var isSuccess: Bool { self == .changed || self == .unchanged }

    /// The text in the timeline's state `extended`: `changed, 412 ms`.
    package func text(milliseconds: Int64) -> String { "\(rawValue), \(max(0, milliseconds)) ms" }

    /// The text of the timeline's note: `note`, the outcome's own, followed by the version of the extension.
    package static func note(_ note: String?, version: String?) -> String? {
        let notes = [note, version.map { "version \($0.prefix(32))" }].compactMap(\.self)
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }

    /// The version in a text of ``note(_:version:)``, where it is printable ASCII of at most 32 characters; otherwise
    /// `nil`.
    package static func version(note: String?) -> String? {
        guard let last = note?.split(separator: "; ").last, last.hasPrefix("version ") else { return nil }
        let version = last.dropFirst("version ".count)
        guard (1...32).contains(version.utf8.count), version.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        return String(version)
    }

    /// Parses a text of ``text(milliseconds:)``; `nil` for any other text.
    package init?(text: String) { self.init(rawValue: String(text.prefix { $0 != "," })) }
}
