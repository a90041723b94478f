import MediaFormat

/// Why a file is not taken.
public enum MediaRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// It has no bytes.
    case empty
    /// Its first bytes are those of nothing that a notification can carry.
    case unknownFormat
    /// It is larger than its kind may be; without a kind, than any may be.
    case tooLarge(MediaKind?)
    /// All files together would take more than this many bytes.
    case quota(Int64)
    /// More files would be kept than may be.
    case count(Int)
    /// Too many uploads at once.
    case busy
    /// It did not arrive whole in time.
    case slow

    /// A word for metrics and programs; there is one for each case.
    public var code: String {
        switch self {
        case .empty: "empty"
        case .unknownFormat: "unknownFormat"
        case .tooLarge: "tooLarge"
        case .quota: "quotaFull"
        case .count: "tooMany"
        case .busy: "busy"
        case .slow: "slow"
        }
    }

    static let codes = ["empty", "unknownFormat", "tooLarge", "quotaFull", "tooMany", "busy", "slow"]

    /// What is wrong, and what would be right.
    public var description: String {
        switch self {
        case .empty: "the file is empty"
        case .unknownFormat:
            "by its first bytes the file is none that a notification can carry: "
                + MediaKind.allCases.map { "\($0.rawValue) (\($0.formats))" }.joined(separator: ", ")
        case .tooLarge(let kind?): "of \(kind.rawValue) at most \(kind.limit) bytes are taken"
        case .tooLarge(nil): "at most \(MediaKind.largest) bytes are taken"
        case .quota(let quota):
            "the server keeps at most \(quota) bytes of media (its setting media-quota); delete some, or wait until some "
                + "expire"
        case .count(let limit): "the server keeps at most \(limit) files; delete some, or wait until some expire"
        case .busy: "as many files arrive as the server takes at once; try again in a while"
        case .slow: "the file did not arrive within ten minutes"
        }
    }
}
