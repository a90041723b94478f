import MediaFormat
import PushModel

/// What is known of a kept file.
public struct MediaFile: Hashable, Sendable {
    /// By which it is asked for.
    public var name: MediaName
    /// What it holds.
    public var format: MediaFormat
    /// How many bytes it has, at least one.
    public var bytes: Int64
    /// The SHA-256 of its bytes, 64 lower-case hexadecimal digits.
    public var digest: String
    /// Whose it is; `nil` for one that was taken where teams are not asked for.
    public var team: TeamID?
    /// When it was first taken.
    public var made: Timestamp
    /// From when on it is there no more.
    public var expires: Timestamp

    /// The last part of its address: the name, and the ending by which programs choose how to read it.
    public var addressName: String { "\(name).\(format.ending)" }
}

/// The file's form beside it on the disk.
struct MediaRecord: Codable {
    var format: String
    var bytes: Int64
    var sha256: String
    var team: String?
    var made: Int64
    var expires: Int64

    init(_ file: MediaFile) {
        format = file.format.rawValue
        bytes = file.bytes
        sha256 = file.digest
        team = file.team?.rawValue
        made = file.made.rawValue
        expires = file.expires.rawValue
    }

    /// What the record says; `nil` where it says what no record of ours does.
    func file(named name: MediaName) -> MediaFile? {
        guard let format = MediaFormat(rawValue: format), bytes > 0, bytes <= format.kind.limit, sha256.utf8.count == 64
        else { return nil }
        return MediaFile(
            name: name, format: format, bytes: bytes, digest: sha256, team: team.map(TeamID.init(rawValue:)),
            made: Timestamp(rawValue: made), expires: Timestamp(rawValue: expires))
    }
}
