import AldabaTestSupport
import Testing

@testable import LinuxDesktop

@Suite(.timeLimit(.minutes(5)))
struct GeoCluePositionTests {
    @Test func `without a system bus it says what would be right`() async {
        let source = GeoCluePosition(busAddress: "unix:path=/nonexistent/bus", desktopID: "aldaba")
        var heard = Listener(source)
        let fault = await heard.fault()
        #expect(fault.contains("no system bus") && fault.contains("position"))
        source.stop()
    }

    @Test(.enabled(if: PrivateBus.isPossible)) func `a bus without GeoClue says what is missing`() async throws {
        let bus = try PrivateBus()
        let source = GeoCluePosition(busAddress: bus.address, desktopID: "aldaba")
        var heard = Listener(source)
        #expect(await heard.fault().contains("geoclue-2.0"))
        bus.end()
        #expect(await heard.fault().contains("the system bus is gone"))
        try bus.begin()
        #expect(await heard.fault().contains("geoclue-2.0"), "it is asked again when there is one")
        source.stop()
    }
}
