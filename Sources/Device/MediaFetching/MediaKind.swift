import Attachments

/// What a fetched file is: what its bytes are decides, and where these leave it open what is said of it.
package struct MediaKind: Codable, Hashable, Sendable {
    /// How its name ends.
    package let ending: String
    /// The most bytes that it may have.
    package let limit: Int64

    /// How many bytes at its begin tell what a file is.
    package static let headLength = 16
    /// The most bytes that a file of any kind may have.
    package static let greatestLimit = AttachmentStore.Kind.allCases.map(\.limit).max() ?? 0

    /// Reads what a file is.
    ///
    /// - Parameters:
    ///   - head: Its first bytes: ``headLength``, or all that there are.
    ///   - says: What is said of it, by the most trusted first: its MIME type, its extension, the sender's hint.
    /// - Returns: `nil` for what a notification cannot show.
    package init?(head: [UInt8], says: [String]) {
        guard var (kind, ending) = AttachmentStore.kind(of: head) else { return nil }
        // The same container holds sound and film, and need not say which.
        if ending == "mp4", says.lazy.compactMap(Self.isSound).first == true { (kind, ending) = (.audio, "m4a") }
        self.ending = ending
        limit = kind.limit
    }

    /// Whether a word of a type is one of a sound; `nil` where it says neither that nor a film.
    private static func isSound(_ word: String) -> Bool? {
        let word = word.lowercased().prefix { $0 != ";" }.filter { $0 != " " }
        switch word {
        case "audio/mp4", "audio/x-m4a", "audio/aac", "m4a", "com.apple.m4a-audio", "public.mpeg-4-audio": return true
        case "video/mp4", "video/quicktime", "mp4", "m4v", "mov", "public.mpeg-4", "public.movie": return false
        default: return nil
        }
    }
}
