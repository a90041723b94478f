import CoreLocation
import Testing

struct BeaconTests {
    private let uuid = UUID()

    @Test func `a beacon's region keeps its numbers, also in copies and archives`() throws {
        let region = CLBeaconRegion(uuid: uuid, major: 1, minor: 2, identifier: "door")
        region.notifyOnExit = false
        let archive = try NSKeyedArchiver.archivedData(withRootObject: region, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CLBeaconRegion.self, from: archive)
        for same in [region, region.copy() as? CLBeaconRegion, read] {
            let same = try #require(same)
            #expect(same.uuid == uuid && same.major == 1 && same.minor == 2)
            #expect(same.identifier == "door" && !same.notifyOnExit && same.notifyOnEntry)
        }
        let all = CLBeaconRegion(uuid: uuid, identifier: "all")
        #expect(all.major == nil && all.minor == nil)
        #expect(CLBeaconRegion(uuid: uuid, major: 3, identifier: "group").major == 3)
    }
}
