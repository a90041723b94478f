import AldabaTestSupport
import Foundation
import PushCore
import Synchronization

@testable import PushServer

let team = TeamID(rawValue: "TEAM000001")
let otherTeam = TeamID(rawValue: "TEAM000002")

/// A file that begins as a picture, a sound or a movie does.
enum Sample {
    static func png(_ count: Int, _ filling: UInt8 = 0) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D] + Array("IHDR".utf8)
            + Array(repeating: filling, count: max(0, count - 16))
    }
    static func mp3(_ count: Int) -> [UInt8] { Array("ID3".utf8) + Array(repeating: 0, count: max(0, count - 3)) }
    static func mpeg(_ count: Int) -> [UInt8] { [0, 0, 1, 0xBA] + Array(repeating: 0, count: max(0, count - 4)) }
}

/// A store in a folder of the test's own.
struct MediaWorld {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let store: MediaStore

    static let lifetime: Int64 = 7_200_000

    /// - Parameter teamQuota: Without it a team may take more than all.
    init(
        folder: TemporaryFolder? = nil, quota: Int64 = 1_000, teamQuota: Int64? = nil, count: Int = 100_000
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        var settings = MediaStore.Settings(quota: quota, teamQuota: teamQuota ?? 2 * quota, lifetime: Self.lifetime)
        settings.countLimit = count
        store = try MediaStore(folder: self.folder.path("media"), settings: settings, clock: clock.function)
    }

    @discardableResult
    func upload(_ bytes: [UInt8], team: TeamID? = team, piece: Int = 7) throws -> AcceptedMedia {
        let upload = try store.begin(team: team, announced: nil)
        var rest = bytes[...]
        while !rest.isEmpty {
            try rest.prefix(piece).withUnsafeBytes { try upload.take($0) }
            rest = rest.dropFirst(piece)
        }
        return try upload.finish()
    }

    func read(_ file: MediaFile) throws -> [UInt8]? {
        guard let open = try store.open(file.addressName) else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(file.bytes))
        _ = try bytes.withUnsafeMutableBytes { try open.read(into: $0, at: 0) }
        return bytes
    }

    var entries: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path("media")).sorted() }
    }

    func permissions(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.path(name))[.posixPermissions] as? Int
    }
}
