import AgentProtocol
import PushCore

/// A stored media file's properties.
package struct MediaFile: Hashable, Sendable {
    /// The file's name, which clients request.
    package var name: MediaName
    /// The media format.
    package var format: MediaFormat
    /// The size in bytes, at least one.
    package var bytes: Int64
    /// The SHA-256 of its bytes, 64 lower-case hexadecimal digits.
    package var digest: String
    /// The owner's team; `nil` for one that was uploaded where teams are not authenticated.
    package var team: TeamID?
    /// The time of the first upload.
    package var made: Timestamp
    /// The time at which it expires.
    package var expires: Timestamp

    /// The last component of its URL: the name, and the extension by which programs determine the format.
    package var addressName: String { "\(name).\(format.ending)" }
}

/// The record of a file, stored in a separate file.
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

    /// The file that the record describes; `nil` for a record that this store did not write.
    func file(named name: MediaName) -> MediaFile? {
        guard let format = MediaFormat(rawValue: format), bytes > 0, bytes <= format.kind.limit, sha256.utf8.count == 64
        else { return nil }
        return MediaFile(
            name: name, format: format, bytes: bytes, digest: sha256, team: team.map(TeamID.init(rawValue:)),
            made: Timestamp(rawValue: made), expires: Timestamp(rawValue: expires))
    }
}
