import AgentProtocol

/// The reason why a file is refused.
package enum MediaRejection: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is empty.
    case empty
    /// The first bytes match no format that a notification can contain.
    case unknownFormat
    /// The file exceeds the size limit of its kind; without a kind, that of every kind.
    case tooLarge(MediaKind?)
    /// All files together would exceed this many bytes.
    case quota(Int64)
    /// The maximum number of files is reached.
    case count(Int)
    /// The team's files take so many bytes, and with this one would take more than one team may keep.
    case teamQuota(used: Int64, limit: Int64)
    /// The team has as many files as one team may keep.
    case teamCount(Int)
    /// Too many uploads at once.
    case busy
    /// The team has the most uploads at once that one team may have.
    case teamBusy(Int)
    /// The file did not arrive whole in time.
    case slow
    /// The bucket of the files could not store it.
    case bucket

    /// A code for metrics and programs, unique for each case.
    package var code: String {
        switch self {
        case .empty: "empty"
        case .unknownFormat: "unknownFormat"
        case .tooLarge: "tooLarge"
        case .quota: "quotaFull"
        case .count: "tooMany"
        case .teamQuota: "teamQuotaFull"
        case .teamCount: "teamTooMany"
        case .busy: "busy"
        case .teamBusy: "teamBusy"
        case .slow: "slow"
        case .bucket: "bucket"
        }
    }

    static let codes = [
        "empty", "unknownFormat", "tooLarge", "quotaFull", "tooMany", "teamQuotaFull", "teamTooMany", "busy",
        "teamBusy", "slow", "bucket",
    ]

    /// A description of the fault, and of the values that are right.
    package var description: String {
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
        case .teamQuota(let used, let limit):
            "the team's files take \(used) of the \(limit) bytes that one team may keep (the server's setting "
                + "media-team-quota); \(Self.remedy)"
        case .teamCount(let limit):
            "the team keeps \(limit) files, which is all that one team may; \(Self.remedy)"
        case .teamBusy(let limit):
            "\(limit) files of the team arrive already, which is all that one team may send at once; try again in a while"
        case .busy: "as many files arrive as the server takes at once; try again in a while"
        case .bucket: "the object store of the files does not take it now; try again in a while"
        case .slow: "the file did not arrive within ten minutes, or came slower than 8 KiB a second"
        }
    }

    private static let remedy =
        "delete some with `aldaba media delete NAME` (`aldaba media list` shows them), or wait until some expire"
}
