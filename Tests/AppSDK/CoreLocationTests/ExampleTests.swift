import AldabaTestSupport
import CoreLocation
import Testing

struct ExampleTests {
    @Test func `the page's example is the code that compiles here`() throws {
        let example = try PageExample("OfficeRegion.swift")
        #expect(example.shown == example.compiled)
    }

    @Test func `the example's circle holds its centre, and not what lies beyond`() {
        let region = officeRegion()
        #expect(region.contains(region.center))
        #expect(!region.contains(CLLocationCoordinate2D(latitude: 52.530, longitude: 13.405)))
    }
}
