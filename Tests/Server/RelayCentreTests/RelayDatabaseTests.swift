import Foundation
import Logging
import RelayWire
import StoreRelay
import Testing

@Suite struct RelayDatabaseTests {
    static func device(_ id: String, _ name: String = "n") -> RelayDevice {
        var device = RelayDevice(id: id, name: name, kind: "desktop", presence: .offline)
        device.key = [UInt8](repeating: 1, count: 32)
        device.proof = [UInt8](repeating: 2, count: 64)
        return device
    }

    @Test("What was kept is read at once, and by the next run; a device is of one account")
    func keeping() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/relay.sqlite"
        let first = try RelayDatabase(path: path, logger: Logger(label: "test"))
        first.keep(Self.device("1"), of: [1], seen: 5)
        first.keep(Self.device("2"), of: [1], seen: 6)
        first.keep(Self.device("3"), of: [2], seen: 7)
        #expect(try first.devices(of: [1]).map(\.device.id) == ["2", "1"])
        first.keep(Self.device("1", "other"), of: [2], seen: 8)
        first.forget("3")
        #expect(try first.devices(of: [2]).map(\.device) == [Self.device("1", "other")])
        try first.close()
        let second = try RelayDatabase(path: path, logger: Logger(label: "test"))
        #expect(try second.devices(of: [1]).map(\.device.id) == ["2"])
        #expect(try second.devices(of: [2]).map(\.seen) == [8])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try second.close()
    }
}
