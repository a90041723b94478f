import Foundation
import Logging
import RelayProtocol
import RelayServer
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
        first.save(StoredDevice(device: Self.device("1"), seen: 5), of: [1])
        first.save(StoredDevice(device: Self.device("2"), seen: 6), of: [1])
        first.save(StoredDevice(device: Self.device("3"), seen: 7), of: [2])
        #expect(try first.devices(of: [1]).map(\.device.id) == ["2", "1"])
        first.save(StoredDevice(device: Self.device("1", "other"), seen: 8), of: [2])
        first.delete("3")
        #expect(try first.devices(of: [2]).map(\.device) == [Self.device("1", "other")])
        let channel = RelayWakeChannel(service: .apns, token: "aa", environment: .sandbox)
        first.save(StoredDevice(device: Self.device("4"), seen: 4, wake: channel), of: [4])
        #expect(try first.devices(of: [4]).map(\.wake) == [channel])
        try first.close()
        let second = try RelayDatabase(path: path, logger: Logger(label: "test"))
        #expect(try second.devices(of: [1]).map(\.device.id) == ["2"])
        #expect(try second.devices(of: [2]).map(\.seen) == [8])
        #expect(try second.devices(of: [4]).map(\.wake) == [channel])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try second.close()
    }
}
