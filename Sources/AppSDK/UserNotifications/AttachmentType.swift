import AgentProtocol
import Foundation

/// The type of an attachment: an entry of Apple's list, by uniform type identifiers.
struct AttachmentType {
    let identifier: String

    private static let identifiers: [(extension: String, identifier: String)] = [
        ("aif", "public.aiff-audio"), ("aiff", "public.aiff-audio"), ("wav", "com.microsoft.waveform-audio"),
        ("mp3", "public.mp3"), ("m4a", "com.apple.m4a-audio"),
        ("jpg", "public.jpeg"), ("jpeg", "public.jpeg"), ("gif", "com.compuserve.gif"), ("png", "public.png"),
        ("mpg", "public.mpeg"), ("mpeg", "public.mpeg"), ("m2v", "public.mpeg-2-video"), ("mp4", "public.mpeg-4"),
        ("avi", "public.avi"),
    ]
    /// Types that have no file name extension in the list.
    private static let others = ["public.mpeg-4-audio"]

    static var extensions: [String] { identifiers.map(\.extension) }

    /// `nil` for an extension of another kind of file; upper and lower case are the same.
    init?(extension name: String) {
        let name = name.lowercased()
        guard let known = Self.identifiers.first(where: { $0.extension == name }) else { return nil }
        identifier = known.identifier
    }

    /// Creates the type of a file from its first bytes; `nil` for a type that is not in the list.
    init?(content url: URL) {
        guard let file = FileHandle(forReadingAtPath: url.path) else { return nil }
        defer { try? file.close() }
        guard let head = try? file.read(upToCount: MediaFormat.headLength), let format = MediaFormat(head: head)
        else { return nil }
        self.init(extension: format.ending)
    }

    /// `nil` for a type that a notification cannot show.
    init?(identifier: String) {
        guard Self.identifiers.contains(where: { $0.identifier == identifier }) || Self.others.contains(identifier)
        else { return nil }
        self.identifier = identifier
    }
}
