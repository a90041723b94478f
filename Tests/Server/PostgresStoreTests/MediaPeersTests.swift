import AldabaTestSupport
import Foundation
import Logging
import PostgresTestSupport
import PushCore
import PushServer
import Synchronization
import Testing

/// Files of several servers with one register.
@Suite(
    .enabled(if: !PostgresVersion.installed.isEmpty, "no server of PostgreSQL is installed"), PostgresServer.Shared())
struct MediaPeersTests {
    private final class Clock: Sendable {
        private let time = Mutex(Timestamp(seconds: 1_800_000_000))
        var now: Timestamp { time.withLock { $0 } }
        func advance(by milliseconds: Int64) { time.withLock { $0 = $0.adding(milliseconds: milliseconds) } }
    }

    /// A bucket in memory.
    private final class Bucket: MediaBucket {
        struct Away: Error {}
        private let state = Mutex<(objects: [String: [UInt8]], isAway: Bool)>(([:], false))
        var objects: [String: [UInt8]] { state.withLock { $0.objects } }
        func replace(_ key: String, by content: [UInt8]) { state.withLock { $0.objects[key] = content } }
        func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

        func put(_ path: String, as key: String, bytes: Int64, sha256: String) throws {
            let content = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            try state.withLock { state in
                guard !state.isAway else { throw Away() }
                state.objects[key] = content
            }
        }

        /// Gives the first half, and fails then when it is away.
        func get(_ key: String, bytes: Int64, write: ([UInt8]) throws -> Void) throws -> Bool {
            let (content, isAway) = state.withLock { ($0.objects[key], $0.isAway) }
            guard let content else { return false }
            try write(Array(content[..<(content.count / 2)]))
            guard !isAway else { throw Away() }
            try write(Array(content[(content.count / 2)...]))
            return true
        }

        func delete(_ key: String) throws {
            try state.withLock { state in
                guard !state.isAway else { throw Away() }
                state.objects[key] = nil
            }
        }
    }

    private final class World {
        let folder: TemporaryFolder
        let carrier = TestMessengers()
        let clock = Clock()
        private(set) var stores: [MediaStore] = []

        private let database: any SQLDatabase
        private let quota: Int64
        private let bucket: Bucket?

        /// Starts servers.
        ///
        /// - Parameter earlier: A file that the first one has taken when it was alone.
        init(quota: Int64 = 1 << 20, count: Int = 3, bucket: Bucket? = nil, earlier: [UInt8]? = nil) throws {
            folder = try TemporaryFolder()
            database = PostgresServer.media(of: try PostgresServer.database())
            (self.quota, self.bucket) = (quota, bucket)
            if let earlier { try upload(earlier, to: store(0, in: "media0", isAlone: true)) }
            for node in 0..<UInt16(count) { stores.append(try store(node, in: "media\(node)")) }
        }

        private func store(_ node: UInt16, in name: String, isAlone: Bool = false) throws -> MediaStore {
            let register = MediaRegister(in: database, node: node)
            let objects = bucket.map { MediaObjects($0, register: register, logger: Logger(label: "media")) }
            return try MediaStore(
                folder: folder.path(name),
                settings: MediaStore.Settings(quota: quota, teamQuota: quota, lifetime: 3_600_000),
                shared: isAlone
                    ? nil
                    : MediaPeers(
                        register: register, copies: MediaCopies(carrier.messenger(of: node), node: node),
                        objects: objects),
                clock: { [clock] in clock.now })
        }

        /// Replaces a server by one with its number and an empty folder.
        func replace(_ node: Int) throws { stores[node] = try store(UInt16(node), in: "replaced\(node)") }

        @discardableResult
        private func upload(_ bytes: [UInt8], to store: MediaStore, team: String = "TEAM") throws -> AcceptedMedia {
            let upload = try store.begin(team: TeamID(rawValue: team), announced: nil)
            try bytes.withUnsafeBytes { try upload.take($0) }
            return try upload.finish()
        }

        func upload(_ bytes: [UInt8], at node: Int, team: String = "TEAM") throws -> AcceptedMedia {
            try upload(bytes, to: stores[node], team: team)
        }

        func content(_ file: MediaFile, at node: Int) async throws -> [UInt8]? {
            guard let media = try await stores[node].find(file.addressName) else { return nil }
            var bytes = [UInt8](repeating: 0, count: Int(media.file.bytes))
            var place = 0
            while place < bytes.count {
                place += try bytes.withUnsafeMutableBytes {
                    try media.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[place...]), at: Int64(place))
                }
            }
            return bytes
        }
    }

    /// A picture of a size, by its first bytes.
    private func picture(_ count: Int, _ filling: UInt8 = 7) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [UInt8](repeating: filling, count: count - 16)
    }

    @Test("A file is copied in pieces to the server that is asked for it, which then has it itself")
    func copies() async throws {
        let world = try World()
        let bytes = picture(300_000)
        let file = try world.upload(bytes, at: 0).file
        #expect(try await world.content(file, at: 1) == bytes)
        world.carrier.remove(0)
        #expect(try await world.content(file, at: 1) == bytes)
        #expect(try await world.content(file, at: 2) == bytes)
    }

    @Test("The same bytes of a team are one file at all servers, and live as long as the last upload wants")
    func sameBytes() async throws {
        let world = try World()
        let first = try world.upload(picture(100), at: 0)
        world.clock.advance(by: 1_000_000)
        let second = try world.upload(picture(100), at: 1)
        #expect(first.isNew && !second.isNew && second.file.name == first.file.name)
        #expect(second.file.expires > first.file.expires)
        #expect(try world.upload(picture(100), at: 1, team: "OTHER").isNew)
        world.clock.advance(by: first.file.expires.milliseconds(since: world.clock.now) + 1)
        #expect(try await world.content(first.file, at: 0) == picture(100))
    }

    @Test("A file that is deleted at one server is at none, and its bytes go with the next sweep")
    func deletion() async throws {
        let world = try World()
        let file = try world.upload(picture(100), at: 0).file
        #expect(try await world.content(file, at: 1) != nil)
        #expect(try world.stores[2].delete(file.name, team: TeamID(rawValue: "OTHER")) == nil)
        #expect(try world.stores[2].delete(file.name, team: TeamID(rawValue: "TEAM")) == file)
        for node in 0..<3 {
            #expect(try await world.content(file, at: node) == nil)
            #expect(try world.stores[node].list(team: nil, after: nil, limit: 10).isEmpty)
            try world.stores[node].sweep()
            let left = try FileManager.default.contentsOfDirectory(atPath: world.folder.path("media\(node)"))
            #expect(left.isEmpty)
        }
        // A server that has not noticed gives the bytes a new name, as a new file.
        let again = try world.upload(picture(100), at: 1)
        #expect(again.isNew && again.file.name != file.name)
        #expect(try await world.content(again.file, at: 0) == picture(100))
    }

    @Test("Bytes that only a server has which is gone are taken again, and have their name")
    func again() async throws {
        let world = try World()
        let file = try world.upload(picture(100), at: 0).file
        world.carrier.remove(0)
        await #expect(throws: MediaUnavailableError.self) { _ = try await world.content(file, at: 1) }
        let again = try world.upload(picture(100), at: 1)
        #expect(!again.isNew && again.file.name == file.name)
        #expect(try await world.content(file, at: 2) == picture(100))
    }

    @Test("The quota is that of all servers, and what expires makes space")
    func quota() throws {
        let world = try World(quota: 1000)
        _ = try world.upload(picture(600, 1), at: 0)
        #expect(throws: MediaRejection.teamQuota(used: 600, limit: 1000)) {
            _ = try world.upload(picture(600, 2), at: 1)
        }
        #expect(try world.upload(picture(400, 3), at: 2).isNew)
        world.clock.advance(by: 3 * 3_600_000)
        for store in world.stores { try store.sweep() }
        #expect(try world.stores[1].list(team: nil, after: nil, limit: 10).isEmpty)
        #expect(try world.upload(picture(900, 4), at: 1).isNew)
    }

    // MARK: A bucket

    @Test("A file is in the bucket too, from where a server gets it when the one that has it is gone")
    func bucket() async throws {
        let bucket = Bucket()
        let world = try World(bucket: bucket)
        let file = try world.upload(picture(300_000), at: 0).file
        #expect(bucket.objects == [file.addressName: picture(300_000)])
        world.carrier.remove(0)
        #expect(try await world.content(file, at: 1) == picture(300_000))
    }

    @Test("What the bucket fails to give, and files that it does not have, come from another server")
    func failingBucket() async throws {
        let bucket = Bucket()
        let world = try World(bucket: bucket)
        let file = try world.upload(picture(300_000), at: 0).file
        bucket.setAway(true)
        #expect(try await world.content(file, at: 1) == picture(300_000))
        bucket.setAway(false)
        try bucket.delete(file.addressName)
        #expect(try await world.content(file, at: 2) == picture(300_000))
    }

    @Test("An upload that the bucket does not take is refused, and leaves nothing")
    func refusedUpload() throws {
        let bucket = Bucket()
        let world = try World(bucket: bucket)
        bucket.setAway(true)
        #expect(throws: MediaRejection.bucket) { _ = try world.upload(picture(100), at: 0) }
        #expect(try world.stores[1].list(team: nil, after: nil, limit: 10).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.folder.path("media0")).isEmpty)
    }

    @Test("A server that replaces the only one with a file, under its number, has the file from the bucket")
    func replacement() async throws {
        let world = try World(count: 1, bucket: Bucket())
        let file = try world.upload(picture(300_000), at: 0).file
        try world.replace(0)
        #expect(try await world.content(file, at: 0) == picture(300_000))
    }

    @Test("An object with other bytes is not taken for the file, which a server has")
    func otherBytes() async throws {
        let bucket = Bucket()
        let world = try World(bucket: bucket)
        let file = try world.upload(picture(300_000, 1), at: 0).file
        for bytes in [picture(300_000, 2), [UInt8](repeating: 0, count: 300_000), picture(100)] {
            bucket.replace(file.addressName, by: bytes)
            try world.replace(1)
            #expect(try await world.content(file, at: 1) == picture(300_000, 1))
        }
    }

    @Test("A file from before is in the bucket once its bytes are uploaded again")
    func earlierFile() async throws {
        let bucket = Bucket()
        let world = try World(bucket: bucket, earlier: picture(100))
        #expect(bucket.objects.isEmpty)
        let again = try world.upload(picture(100), at: 1)
        #expect(!again.isNew && bucket.objects.count == 1)
        #expect(try !world.upload(picture(100), at: 2).isNew && bucket.objects.count == 1)
        for node in 0..<2 { world.carrier.remove(UInt16(node)) }
        try world.replace(2)
        #expect(try await world.content(again.file, at: 2) == picture(100))
        #expect(try world.stores[2].delete(again.file.name, team: nil) != nil)
        #expect(bucket.objects.isEmpty)
    }

    @Test("An upload beyond the quota does not reach the bucket")
    func refusedByQuota() throws {
        let bucket = Bucket()
        let world = try World(quota: 1000, bucket: bucket)
        let kept = try world.upload(picture(900, 1), at: 0).file
        #expect(throws: MediaRejection.teamQuota(used: 900, limit: 1000)) {
            _ = try world.upload(picture(200, 2), at: 1)
        }
        #expect(Array(bucket.objects.keys) == [kept.addressName])
    }

    @Test("Objects of deleted and expired files are deleted, an hour later where the bucket was away")
    func unusedObjects() throws {
        let bucket = Bucket()
        let world = try World(bucket: bucket)
        let deleted = try world.upload(picture(100, 1), at: 0).file
        #expect(try world.stores[1].delete(deleted.name, team: nil) == deleted)
        #expect(bucket.objects.isEmpty)
        let later = try world.upload(picture(100, 2), at: 0).file
        bucket.setAway(true)
        #expect(try world.stores[1].delete(later.name, team: nil) == later)
        bucket.setAway(false)
        try world.stores[2].sweep()
        #expect(bucket.objects.count == 1)
        world.clock.advance(by: 3_600_000)
        try world.stores[2].sweep()
        #expect(bucket.objects.isEmpty)
        _ = try world.upload(picture(100, 3), at: 0)
        world.clock.advance(by: 3_600_000)
        try world.stores[1].sweep()
        #expect(bucket.objects.isEmpty)
    }
}
