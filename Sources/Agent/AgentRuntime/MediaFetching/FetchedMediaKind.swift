import AgentEngine

/// The kind of a fetched file. Its bytes decide, and where they leave it open the declared type.
package struct FetchedMediaKind: Codable, Hashable, Sendable {
    /// How its name ends.
    package let ending: String
    /// The most bytes that it may have.
    package let limit: Int64

    /// The number of bytes at a file's beginning that identify its kind.
    package static let headLength = 16
    /// The most bytes that a file of any kind may have.
    package static let greatestLimit = AttachmentStore.Kind.allCases.map(\.limit).max() ?? 0

    /// Reads the kind of a file.
    ///
    /// - Parameters:
    ///   - head: The file's first bytes: ``headLength``, or all that there are.
    ///   - types: The declared types, the most trusted first: its MIME type, its extension, the sender's hint.
    /// - Returns: `nil` for a kind that a notification cannot show.
    package init?(head: [UInt8], declared types: [String]) {
        guard var (kind, ending) = AttachmentStore.kind(of: head) else { return nil }
        // The same container holds sound and film, and need not declare which.
        if ending == "mp4", types.lazy.compactMap(Self.isSound).first == true { (kind, ending) = (.audio, "m4a") }
        self.ending = ending
        limit = kind.limit
    }

    /// Whether a declared type is one of a sound; `nil` where it is neither a sound's nor a film's.
    private static func isSound(_ word: String) -> Bool? {
        let word = word.lowercased().prefix { $0 != ";" }.filter { $0 != " " }
        switch word {
        case "audio/mp4", "audio/x-m4a", "audio/aac", "m4a", "com.apple.m4a-audio", "public.mpeg-4-audio": return true
        case "video/mp4", "video/quicktime", "mp4", "m4v", "mov", "public.mpeg-4", "public.movie": return false
        default: return nil
        }
    }
}
