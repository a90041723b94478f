/// How a notification's way through its app's service extension ended. The names are in the timeline and in counts.
public enum ExtensionOutcome: String, Sendable, CaseIterable {
    /// The extension changed it.
    case changed
    /// The extension gave back what it was given.
    case unchanged
    /// What the extension gave back shows no text.
    case emptied
    /// An attachment is not one that can be taken.
    case attachmentRefused
    /// What the extension gave back is no content that can be sent or stored.
    case unsendable
    /// It did not answer within its time.
    case timedOut
    /// Its process ended, or left the agent, before it answered.
    case crashed
    /// Its process took more memory than it may.
    case tooMuchMemory
    /// Its process could not be started.
    case notStarted
    /// Too many waited before it, or for too long.
    case busy
    /// The app, or its extension, was taken away or installed anew meanwhile.
    case interrupted

    /// Whether the person sees what the extension made of it, or would have made no different.
    public var isSuccess: Bool { self == .changed || self == .unchanged }

    /// What the timeline's state `extended` says: `changed, 412 ms`.
    public func text(milliseconds: Int64) -> String { "\(rawValue), \(max(0, milliseconds)) ms" }

    /// What the timeline's note says after `note`, the outcome's own: the version of the extension.
    public static func note(_ note: String?, version: String?) -> String? {
        let notes = [note, version.map { "version \($0.prefix(32))" }].compactMap(\.self)
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }

    /// The version that ``note(_:version:)`` wrote, where it is printable ASCII of at most 32 characters; else `nil`.
    public static func version(note: String?) -> String? {
        guard let last = note?.split(separator: "; ").last, last.hasPrefix("version ") else { return nil }
        let version = last.dropFirst("version ".count)
        guard (1...32).contains(version.utf8.count), version.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        return String(version)
    }

    /// Reads what ``text(milliseconds:)`` wrote; `nil` for another text.
    public init?(text: String) { self.init(rawValue: String(text.prefix { $0 != "," })) }
}
