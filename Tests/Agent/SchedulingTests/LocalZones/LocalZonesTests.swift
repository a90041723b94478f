import AldabaTestSupport
import CoreValues
import Foundation
import Testing

@testable import Scheduling

struct LocalZonesTests {
    /// A zone file of version 1 with one offset.
    private func file(hours: Int8) -> Data {
        let seconds = Int32(hours) * 3600
        var bytes = Data("TZif".utf8) + Data(count: 16)
        for count: UInt8 in [0, 0, 0, 0, 1, 4] { bytes += Data([0, 0, 0, count]) }
        return bytes + withUnsafeBytes(of: seconds.bigEndian) { Data($0) } + Data([0, 0, 65, 65, 65, 0])
    }

    private let now = Timestamp(seconds: 1_780_272_000)

    private func folder(_ body: (String) throws -> Void) throws {
        let temporary = try TemporaryFolder()
        defer { withExtendedLifetime(temporary) {} }
        let folder = temporary.url.path
        let zones = folder + "/zones"
        try FileManager.default.createDirectory(atPath: zones + "/Area", withIntermediateDirectories: true)
        try file(hours: 5).write(to: URL(filePath: zones + "/Area/Five"))
        try file(hours: 5).write(to: URL(filePath: zones + "/Cinco"))
        try file(hours: -3).write(to: URL(filePath: zones + "/Minus"))
        try file(hours: 9).write(to: URL(filePath: folder + "/outside"))
        try Data("no zone".utf8).write(to: URL(filePath: zones + "/broken"))
        try body(folder)
    }

    private func offset(_ rules: ZoneRules?) -> Int? { rules.map { $0.offset(at: now) / 3600 } }

    @Test(arguments: ["localtime", "TZ"])
    func `a zone that is being set is as it was until the file has been away for a while`(way: String) throws {
        try folder { path in
            let link = path + "/localtime"
            let environment = way == "TZ" ? ["TZ": ":" + link] : [:]
            let zones = LocalZones(environment: environment, folder: path + "/zones", localtime: link)
            let hasty = LocalZones(
                environment: environment, folder: path + "/zones", localtime: link, timeout: .zero)
            #expect(zones.current().name == "UTC" && zones.rules(for: .floating)?.name == "UTC")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "zones/Area/Five")
            for each in [zones, hasty] { #expect(offset(each.current().rules) == 5) }
            #expect(unlink(link) == 0)
            #expect(offset(zones.current().rules) == 5 && offset(zones.rules(for: .floating)) == 5)
            #expect(hasty.current().name == "UTC")
            try Data("TZif, half of it".utf8).write(to: URL(filePath: link))
            #expect(offset(zones.current().rules) == 5)
            #expect(unlink(link) == 0)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "zones/Minus")
            for each in [zones, hasty] { #expect(offset(each.current().rules) == -3) }
        }
    }

    @Test func `a name finds its file, and none leads out of the folder`() throws {
        try folder { path in
            let zones = LocalZones(environment: ["TZDIR": path + "/zones"], localtime: path + "/none")
            #expect(offset(zones.rules(named: "Area/Five")) == 5)
            #expect(offset(zones.rules(named: "Minus")) == -3)
            #expect(zones.rules(named: "Area/Five") == zones.rules(named: "Cinco"))
            for name in [
                "../outside", path + "/outside", "Area/../../outside", "", "Area", "Area/", "/Minus", "broken",
                "nobody",
                String(repeating: "a", count: 200), "Minus\0",
            ] {
                #expect(zones.rules(named: name) == nil, "\(name)")
            }
        }
    }

    @Test func `a zone without a file is asked of Foundation`() throws {
        let zones = LocalZones(environment: ["TZDIR": "/nonexistent"], localtime: "/nonexistent")
        let sampled = try #require(zones.rules(named: "America/New_York"))
        let rules = try ZoneRules(posix: "EST5EDT,M3.2.0,M11.1.0")
        for day in 0..<800 {
            let instant = now.adding(milliseconds: Int64(day) * 86_400_000)
            #expect(sampled.offset(at: instant) == rules.offset(at: instant))
        }
        #expect(zones.rules(named: "Nowhere/Land") == nil)
        #expect(zones.rules(for: .fixed(secondsFromGMT: 7200))?.offset(at: now) == 7200)
    }

    @Test func `the machine's zone is that of a link or of a copy, and a change is seen`() throws {
        try folder { path in
            let localtime = path + "/localtime"
            let zones = LocalZones(environment: [:], folder: path + "/zones", localtime: localtime)
            #expect(zones.current().name == "UTC" && offset(zones.current().rules) == 0)
            let manager = FileManager.default
            try manager.createSymbolicLink(atPath: localtime, withDestinationPath: "zones/Area/Five")
            #expect(zones.current().name == "Area/Five" && offset(zones.current().rules) == 5)
            try manager.removeItem(atPath: localtime)
            try manager.createSymbolicLink(atPath: localtime, withDestinationPath: path + "/zones/Minus")
            #expect(zones.current().name == "Minus" && offset(zones.current().rules) == -3)
            try manager.removeItem(atPath: localtime)
            try manager.copyItem(atPath: path + "/outside", toPath: localtime)
            #expect(zones.current().name == nil && offset(zones.current().rules) == 9)
            #expect(offset(zones.rules(for: .floating)) == 9)
        }
    }

    @Test(
        arguments: [
            (":Minus", "Minus", -3), ("Area/Five", "Area/Five", 5), ("XYZ-7", nil, 7), ("", "UTC", 0),
            (":what is this", "UTC", 0), ("../outside", "UTC", 0),
        ] as [(String, String?, Int)])
    func `TZ names the machine's zone, or says its rules`(setting: String, name: String?, hours: Int) throws {
        try folder { path in
            let zones = LocalZones(
                environment: ["TZ": setting, "TZDIR": ""], folder: path + "/zones", localtime: path + "/outside")
            #expect(zones.current().name == name && offset(zones.current().rules) == hours)
        }
    }

    @Test func `TZ may be a path`() throws {
        try folder { path in
            let zones = LocalZones(environment: ["TZ": ":\(path)/outside"], folder: path + "/zones")
            #expect(zones.current().name == nil && offset(zones.current().rules) == 9)
        }
    }

    @Test func `what is no file, or too large, is no zone`() throws {
        try folder { path in
            let zones = LocalZones(environment: [:], folder: path + "/zones", localtime: path + "/localtime")
            #expect(mkfifo(path + "/zones/pipe", 0o600) == 0)
            #expect(zones.rules(named: "pipe") == nil)
            try Data(count: ZoneRules.largestFile + 1).write(to: URL(filePath: path + "/zones/large"))
            #expect(zones.rules(named: "large") == nil)
        }
    }
}
