/// The three kinds of file that a notification can carry.
public enum MediaKind: String, Sendable, CaseIterable {
    /// A sound.
    case audio
    /// A picture, which may move.
    case image
    /// A film.
    case movie

    /// The most bytes of one file (Apple, "UNNotificationAttachment", supported file types).
    public var limit: Int64 {
        switch self {
        case .audio: 5 << 20
        case .image: 10 << 20
        case .movie: 50 << 20
        }
    }

    /// The most bytes that a file of any kind may have.
    public static let largest = MediaKind.movie.limit

    /// The supported formats of the kind, for messages.
    public var formats: String {
        switch self {
        case .audio: "AIFF, WAV, MP3, M4A"
        case .image: "JPEG, GIF, PNG"
        case .movie: "MPEG, MPEG-4, AVI"
        }
    }
}

/// The formats that a notification can carry, recognised by the first bytes of a file.
public enum MediaFormat: String, Sendable, CaseIterable {
    /// Each is a format by the usual ending of its files' names.
    case jpeg = "jpg"
    case gif
    case png
    case aiff
    case wav
    case mp3
    case m4a
    case mpeg = "mpg"
    case mp4
    case avi

    /// How many of the first bytes are looked at; fewer are enough where the file ends.
    public static let headLength = 16

    /// Reads what a file is; `nil` for one that no notification can carry.
    ///
    /// - Parameter head: The file's first bytes; more than ``headLength`` make no difference.
    public init?(head: some Collection<UInt8>) {
        let head = Array(head.prefix(Self.headLength))
        guard let format = Self.pictures(head) ?? Self.containers(head) ?? Self.streams(head) else { return nil }
        self = format
    }

    /// The kind that the format belongs to.
    public var kind: MediaKind {
        switch self {
        case .jpeg, .gif, .png: .image
        case .aiff, .wav, .mp3, .m4a: .audio
        case .mpeg, .mp4, .avi: .movie
        }
    }

    /// The media type, as IANA lists it where it does.
    public var contentType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .gif: "image/gif"
        case .png: "image/png"
        case .aiff: "audio/x-aiff"
        case .wav: "audio/x-wav"
        case .mp3: "audio/mpeg"
        case .m4a: "audio/mp4"
        case .mpeg: "video/mpeg"
        case .mp4: "video/mp4"
        case .avi: "video/x-msvideo"
        }
    }

    /// The ending of a file's name, without a dot: by it some programs choose how to read the file.
    public var ending: String { rawValue }

    // MARK: Reading

    private static func has(_ text: StaticString, at place: Int, in head: [UInt8]) -> Bool {
        guard head.count >= place + text.utf8CodeUnitCount else { return false }
        return head[place...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// PNG (W3C, section 5.2, and its first chunk), JPEG (the marker SOI and another), GIF (both versions).
    private static func pictures(_ head: [UInt8]) -> MediaFormat? {
        if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), has("IHDR", at: 12, in: head) {
            return .png
        }
        if head.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
        return has("GIF87a", at: 0, in: head) || has("GIF89a", at: 0, in: head) ? .gif : nil
    }

    /// RIFF and IFF by their form types, ISO media (ISO/IEC 14496-12) by its major brand.
    private static func containers(_ head: [UInt8]) -> MediaFormat? {
        if has("RIFF", at: 0, in: head) {
            return has("WAVE", at: 8, in: head) ? .wav : has("AVI ", at: 8, in: head) ? .avi : nil
        }
        if has("FORM", at: 0, in: head) {
            return has("AIFF", at: 8, in: head) || has("AIFC", at: 8, in: head) ? .aiff : nil
        }
        guard has("ftyp", at: 4, in: head) else { return nil }
        if has("M4A ", at: 8, in: head) || has("M4B ", at: 8, in: head) { return .m4a }
        // Not every brand: pictures (HEIC, AVIF) and QuickTime begin with the same box.
        let brands: [StaticString] = ["iso", "mp4", "avc1", "M4V", "MSNV", "dash"]
        return brands.contains { has($0, at: 8, in: head) } ? .mp4 : nil
    }

    /// MPEG program and video streams (ISO/IEC 13818-1 and -2, start codes), MP3 by its tag or its first frame.
    private static func streams(_ head: [UInt8]) -> MediaFormat? {
        if head.starts(with: [0, 0, 1, 0xBA]) || head.starts(with: [0, 0, 1, 0xB3]) { return .mpeg }
        if has("ID3", at: 0, in: head) { return .mp3 }
        // A frame header of layer III with a version, a bit rate and a sample rate that exist (ISO/IEC 11172-3,
        // 2.4.1.3).
        guard head.count >= 4, head[0] == 0xFF, head[1] & 0xE0 == 0xE0, head[1] & 0x06 == 0x02, head[1] & 0x18 != 0x08,
            head[2] & 0xF0 != 0xF0, head[2] & 0x0C != 0x0C
        else { return nil }
        return .mp3
    }
}
