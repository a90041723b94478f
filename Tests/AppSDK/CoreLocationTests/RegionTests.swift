import CoreLocation
import Foundation
import Testing

struct RegionTests {
    private let office = CLCircularRegion(
        center: CLLocationCoordinate2D(latitude: 52.52, longitude: 13.405), radius: 200, identifier: "office")

    @Test(arguments: [(52.52, 13.405, true), (52.5217, 13.405, true), (52.522, 13.405, false), (91, 0, false)])
    func `a circle contains what is not farther away than its radius`(
        latitude: Double, longitude: Double, isInside: Bool
    ) {
        #expect(office.contains(CLLocationCoordinate2D(latitude: latitude, longitude: longitude)) == isInside)
    }

    @Test func `a copy and an archive say the same, and change apart`() throws {
        office.notifyOnExit = false
        let copy = try #require(office.copy() as? CLCircularRegion)
        let data = try NSKeyedArchiver.archivedData(withRootObject: office, requiringSecureCoding: true)
        let again = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CLCircularRegion.self, from: data))
        office.notifyOnExit = true
        for region in [copy, again] {
            #expect(region == office && region.radius == 200 && region.center.longitude == 13.405)
            #expect(region.notifyOnEntry && !region.notifyOnExit)
        }
    }

    @Test func `places are as far apart as the great circle says, and no place is nowhere`() throws {
        let berlin = CLLocation(latitude: 52.52, longitude: 13.405)
        let paris = CLLocation(latitude: 48.8566, longitude: 2.3522)
        #expect((877_000...879_000).contains(berlin.distance(from: paris)))
        let nowhere = CLLocation(latitude: -180, longitude: -180)
        #expect(berlin.distance(from: nowhere) < 0)
        let data = try NSKeyedArchiver.archivedData(withRootObject: berlin, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: data) == berlin)
    }
}
