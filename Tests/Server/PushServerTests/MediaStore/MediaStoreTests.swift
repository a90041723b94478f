import AgentProtocol
import AldabaTestSupport
import Foundation
import PushCore
import Testing

@testable import PushServer

@Test(arguments: [1, 7, 16, 17, 1000])
func `a file that comes in pieces is kept whole, for its owner's eyes`(piece: Int) throws {
    let world = try MediaWorld()
    let taken = try world.upload(Sample.png(100), piece: piece)
    #expect(taken.isNew)
    #expect(taken.file.format == .png && taken.file.bytes == 100 && taken.file.team == team)
    #expect(try world.read(taken.file) == Sample.png(100))
    #expect(try world.permissions("media") == 0o700)
    for entry in try world.entries { #expect(try world.permissions("media/\(entry)") == 0o600) }
}

@Test func `a file is asked for by its name with its ending alone`() throws {
    let world = try MediaWorld()
    let name = try world.upload(Sample.png(20)).file.name.description
    #expect(name.utf8.count == 40)
    #expect(try world.store.open("\(name).png") != nil)
    let others = [
        name, "\(name).jpg", "\(name).png.json", "\(name).json", "\(name.uppercased()).png", "../\(name).png", ".png",
        "",
        "\(String(repeating: "0", count: 40)).png",
    ]
    for other in others { #expect(try world.store.open(other) == nil) }
}

@Test func `the same bytes of a team are one file, kept anew`() throws {
    let world = try MediaWorld()
    let first = try world.upload(Sample.png(60))
    world.clock.advance(milliseconds: MediaWorld.lifetime - 1)
    let second = try world.upload(Sample.png(60))
    #expect(!second.isNew && second.file.name == first.file.name && second.file.made == first.file.made)
    #expect(second.file.expires.milliseconds(since: first.file.expires) == MediaWorld.lifetime - 1)
    #expect(try world.entries.count == 2)
    #expect(try world.upload(Sample.png(60, 1)).isNew)
    #expect(try world.upload(Sample.png(60), team: otherTeam).file.name != first.file.name)
}

@Test func `what has expired is found no more, and goes an hour later`() throws {
    let world = try MediaWorld()
    let file = try world.upload(Sample.png(60)).file
    world.clock.advance(milliseconds: MediaWorld.lifetime - 1)
    #expect(try world.store.open(file.addressName) != nil)
    world.clock.advance(milliseconds: 1)
    #expect(try world.store.open(file.addressName) == nil)
    #expect(try world.store.list(team: nil, after: nil, limit: 10).isEmpty)
    #expect(try world.store.delete(file.name, team: nil) == nil)
    world.clock.advance(milliseconds: 3_600_000)
    try world.store.sweep()
    #expect(try world.entries.isEmpty)
    #expect(try world.upload(Sample.png(60)).isNew)
}

@Test func `a restart keeps all, and removes what was left half`() throws {
    let folder = try TemporaryFolder()
    let file = try MediaWorld(folder: folder).upload(Sample.png(60)).file
    let half = String(repeating: "1", count: 40)
    let cut = String(repeating: "2", count: 40)
    let record = try String(contentsOfFile: folder.path("media/\(file.name).json"), encoding: .utf8)
    for (name, text) in [
        (half, "x"), ("\(half).arriving", "x"), ("\(cut).json", record), (cut, "shorter"),
        ("\(String(repeating: "3", count: 40)).json", "{"),
    ] {
        try text.write(toFile: folder.path("media/\(name)"), atomically: false, encoding: .utf8)
    }
    let world = try MediaWorld(folder: folder)
    #expect(try world.entries == ["\(file.name)", "\(file.name).json"])
    #expect(try world.read(file) == Sample.png(60))
    #expect(try world.store.list(team: team, after: nil, limit: 10) == [file])
    #expect(try !world.upload(Sample.png(60)).isNew)
}

/// Files by what they begin with and their size, without the bytes: those would stand in the log.
enum SampleFile: Sendable {
    case text(String)
    case mp3(Int)
    case png(Int)
    case mpeg(Int)

    var bytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .mp3(let count): Sample.mp3(count)
        case .png(let count): Sample.png(count)
        case .mpeg(let count): Sample.mpeg(count)
        }
    }
}

/// What is not taken, and the reason.
private let refused: [(SampleFile, MediaRejection)] = [
    (.text(""), .empty), (.text("<html>"), .unknownFormat), (.text("a text of more than sixteen"), .unknownFormat),
    (.mp3((5 << 20) + 1), .tooLarge(.audio)), (.png((10 << 20) + 1), .tooLarge(.image)),
    (.mpeg((50 << 20) + 1), .tooLarge(.movie)),
]

@Test(arguments: refused)
func `a refused file leaves nothing behind`(file: SampleFile, refusal: MediaRejection) throws {
    let world = try MediaWorld(quota: 100 << 20)
    #expect(throws: refusal) { try world.upload(file.bytes, piece: 1 << 20) }
    #expect(try world.entries.isEmpty)
    // Nothing of the quota is held any more.
    #expect(throws: Never.self) { try world.store.begin(team: nil, announced: 50 << 20) }
}

@Test(arguments: [(5, .mp3(5 << 20)), (10, .png(10 << 20)), (50, .mpeg(50 << 20))] as [(Int64, SampleFile)])
func `a file of exactly the most that Apple allows is taken`(mebibytes: Int64, file: SampleFile) throws {
    let world = try MediaWorld(quota: 100 << 20)
    #expect(try world.upload(file.bytes, piece: 1 << 20).file.bytes == mebibytes << 20)
}

@Test func `the quota counts what is kept and what arrives`() throws {
    let world = try MediaWorld(quota: 200)
    let first = try world.upload(Sample.png(100)).file
    let arriving = try world.store.begin(team: team, announced: nil)
    try Sample.png(60, 1).withUnsafeBytes { try arriving.take($0) }
    #expect(throws: MediaRejection.quota(200)) { try world.upload(Sample.png(41, 2)) }
    #expect(throws: MediaRejection.quota(200)) { try world.store.begin(team: team, announced: 41) }
    #expect(try world.upload(Sample.png(40, 3)).isNew)
    #expect(throws: MediaRejection.quota(200)) { try world.upload(Sample.png(17, 4)) }
    #expect(try world.store.delete(first.name, team: team) == first)
    #expect(try world.upload(Sample.png(100, 5)).isNew)
    #expect(try arriving.finish().isNew)
}

@Test func `the same bytes again take no more of the quota`() throws {
    let world = try MediaWorld(quota: 100)
    for _ in 0..<10 { try world.upload(Sample.png(50)) }
    #expect(try world.upload(Sample.png(50, 1)).isNew)
}

@Test func `there are only so many files, and so many at once`() throws {
    let world = try MediaWorld(count: 1)
    let held = try (0..<MediaStore.arrivals).map {
        try world.store.begin(team: $0 < MediaStore.teamArrivals ? team : otherTeam, announced: nil)
    }
    #expect(throws: MediaRejection.busy) { try world.store.begin(team: team, announced: nil) }
    try withExtendedLifetime(held) {
        let first = try #require(held.first)
        try Sample.png(20).withUnsafeBytes { try first.take($0) }
        #expect(try first.finish().isNew)
    }
}

@Test func `when there are as many files as may be another is refused`() throws {
    let world = try MediaWorld(count: 1)
    try world.upload(Sample.png(20))
    #expect(throws: MediaRejection.count(1)) { try world.upload(Sample.png(21), team: otherTeam) }
}

@Test func `of what may arrive at once one team takes half`() throws {
    let world = try MediaWorld()
    var held: [MediaUpload] = []
    for _ in 0..<MediaStore.teamArrivals { held.append(try world.store.begin(team: team, announced: nil)) }
    #expect(throws: MediaRejection.teamBusy(4)) { try world.store.begin(team: team, announced: nil) }
    for _ in 0..<4 { held.append(try world.store.begin(team: otherTeam, announced: nil)) }
    held.removeAll()
    for _ in 0..<MediaStore.teamArrivals { held.append(try world.store.begin(team: team, announced: nil)) }
    #expect(held.count == MediaStore.teamArrivals)
}

@Test func `one team fills no more than its share of the quota, and is told how full it is`() throws {
    let world = try MediaWorld(quota: 200, teamQuota: 100)
    try world.upload(Sample.png(60))
    let arriving = try world.store.begin(team: team, announced: 40)
    try Sample.png(30).withUnsafeBytes { try arriving.take($0) }
    let refusal = #expect(throws: MediaRejection.self) { try world.upload(Sample.png(17, 1)) }
    guard case .teamQuota(let used, 100)? = refusal else { return #expect(Bool(false), "\(refusal as Any)") }
    #expect((90...100).contains(used))
    #expect(refusal?.description.contains("\(used) of the 100 bytes") == true)
    #expect(throws: MediaRejection.teamQuota(used: 90, limit: 100)) {
        try world.store.begin(team: team, announced: 11)
    }
    // The other half is the others'.
    #expect(try world.upload(Sample.png(100), team: otherTeam).isNew)
    #expect(try arriving.finish().isNew)
    let mine = try #require(try world.store.list(team: team, after: nil, limit: 1).first)
    _ = try world.store.delete(mine.name, team: team)
    #expect(try world.upload(Sample.png(Int(mine.bytes), 3)).isNew)
}

@Test func `without a setting a team's share is half`() throws {
    #expect(MediaStore.Settings(quota: 1000, lifetime: 1).teamQuota == 500)
}

@Test func `of the files that are kept one team has half, after a restart too`() throws {
    let world = try MediaWorld(count: 4)
    for filling in 0..<2 as Range<UInt8> { try world.upload(Sample.png(20, filling)) }
    #expect(throws: MediaRejection.teamCount(2)) { try world.upload(Sample.png(20, 9)) }
    let again = try MediaWorld(folder: world.folder, count: 4)
    #expect(throws: MediaRejection.teamCount(2)) { try again.upload(Sample.png(20, 9)) }
    for filling in 0..<2 as Range<UInt8> { try again.upload(Sample.png(20, filling), team: otherTeam) }
    #expect(try again.store.list(team: nil, after: nil, limit: 10).count == 4)
}

@Test func `where teams are not asked for, all may be filled`() throws {
    let world = try MediaWorld(quota: 200, teamQuota: 100)
    #expect(try world.upload(Sample.png(200), team: nil).isNew)
}

@Test func `a file that does not come within ten minutes is given up`() throws {
    let world = try MediaWorld()
    let upload = try world.store.begin(team: team, announced: nil)
    try Sample.png(20).withUnsafeBytes { try upload.take($0) }
    world.clock.advance(milliseconds: 600_001)
    #expect(throws: MediaRejection.slow) { try [1].withUnsafeBytes { try upload.take($0) } }
}

@Test func `a team sees and deletes its own files alone`() throws {
    let world = try MediaWorld()
    let mine = try world.upload(Sample.png(20)).file
    let theirs = try world.upload(Sample.png(20), team: otherTeam).file
    #expect(try world.store.list(team: team, after: nil, limit: 10) == [mine])
    #expect(try world.store.list(team: nil, after: nil, limit: 10).count == 2)
    #expect(try world.store.delete(theirs.name, team: team) == nil)
    #expect(try world.store.delete(mine.name, team: team) == mine)
    #expect(try world.store.list(team: nil, after: nil, limit: 10) == [theirs])
    #expect(try world.entries.count == 2)
}

@Test func `the list comes in pages`() throws {
    let world = try MediaWorld()
    let names = try (0..<5).map { try world.upload(Sample.png(20, UInt8($0))).file.name }.sorted()
    let first = try world.store.list(team: team, after: nil, limit: 3).map(\.name)
    #expect(first == Array(names.prefix(3)))
    #expect(try world.store.list(team: team, after: first.last, limit: 3).map(\.name) == Array(names.suffix(2)))
}

@Test func `a file can be read to its end while it is deleted`() throws {
    let world = try MediaWorld()
    let file = try world.upload(Sample.png(20)).file
    let open = try #require(try world.store.open(file.addressName))
    _ = try world.store.delete(file.name, team: team)
    var bytes = [UInt8](repeating: 0, count: 20)
    #expect(try bytes.withUnsafeMutableBytes { try open.read(into: $0, at: 0) } == 20)
    #expect(throws: (any Error).self) { try bytes.withUnsafeMutableBytes { try open.read(into: $0, at: 20) } }
}

@Test func `a file that was made into a link is not followed`() throws {
    let world = try MediaWorld()
    let file = try world.upload(Sample.png(20)).file
    let place = world.folder.path("media/\(file.name)")
    try FileManager.default.removeItem(atPath: place)
    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: "/etc/passwd")
    #expect(throws: (any Error).self) { try world.store.open(file.addressName) }
    #expect(try MediaWorld(folder: world.folder).entries.isEmpty)
}
