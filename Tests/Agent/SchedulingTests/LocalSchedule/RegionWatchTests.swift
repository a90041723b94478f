import AgentProtocol
import Scheduling
import Testing

struct RegionWatchTests {
    /// A circle around a place in Berlin; a thousandth of a degree of latitude is 111 m.
    private func region(
        radius: Double = 200, onEntry: Bool = true, onExit: Bool = true, latitude: Double = 52.5
    ) -> NotificationTrigger.Region {
        NotificationTrigger.Region(
            identifier: "office", latitude: latitude, longitude: 13.4, radius: radius, onEntry: onEntry, onExit: onExit)
    }

    private func report(
        _ watch: inout RegionWatch, north: Double, accuracy: Double = 10, at seconds: Int64
    ) throws -> [RegionWatch.Crossing] {
        try watch.positionReported(
            latitude: 52.5 + north / 111_195, longitude: 13.4, accuracy: accuracy, sinceBoot: seconds * 1000
        ).get()
    }

    @Test func `what is known first is no crossing, what lasts afterwards is`() throws {
        var watch = RegionWatch()
        #expect(watch.add(1, region()) == nil)
        #expect(try report(&watch, north: 0, at: 0) == [])
        #expect(watch.nextDeadline == 20_000)
        #expect(watch.timePassed(sinceBoot: 19_999) == [])
        #expect(
            watch.timePassed(sinceBoot: 20_000) == [RegionWatch.Crossing(key: 1, state: .inside, fires: false)])
        #expect(try report(&watch, north: 300, at: 60) == [])
        #expect(try report(&watch, north: 400, at: 70) == [])
        #expect(
            try report(&watch, north: 400, at: 81) == [RegionWatch.Crossing(key: 1, state: .outside, fires: true)])
        #expect(watch.state(of: 1) == .outside && watch.nextDeadline == nil)
    }

    @Test func `what has not lasted begins anew when the position is lost`() throws {
        var watch = RegionWatch()
        _ = watch.add(1, region(), state: .outside)
        _ = try report(&watch, north: 0, at: 0)
        #expect(watch.hasPosition)
        let crossing = try #require(watch.crossing(of: 1))
        #expect(crossing == (.inside, 0))
        watch.forgetPosition()
        #expect(watch.crossing(of: 1) == nil && !watch.hasPosition && watch.nextDeadline == nil)
        #expect(watch.timePassed(sinceBoot: 30_000) == [])
        _ = try report(&watch, north: 0, at: 30)
        #expect(watch.timePassed(sinceBoot: 49_999) == [])
        #expect(watch.timePassed(sinceBoot: 50_000) == [RegionWatch.Crossing(key: 1, state: .inside, fires: true)])
    }

    @Test func `a circle has an outside`() {
        var watch = RegionWatch()
        #expect(watch.add(1, region(radius: RegionWatch.largestRadius)) == nil)
        #expect(watch.add(2, region(radius: RegionWatch.largestRadius.nextUp)) == .notOnEarth)
    }

    @Test func `a circle that comes later knows the last position, and one that comes again goes on`() throws {
        var watch = RegionWatch()
        _ = watch.add(1, region())
        _ = try report(&watch, north: 0, at: 0)
        _ = watch.timePassed(sinceBoot: 20_000)
        #expect(watch.add(2, region(latitude: 52.6)) == nil)
        #expect(
            watch.timePassed(sinceBoot: 60_000) == [RegionWatch.Crossing(key: 2, state: .outside, fires: false)])
        _ = try report(&watch, north: 11_119, at: 70)
        // What is placed anew meanwhile keeps what has begun.
        #expect(watch.add(2, region(latitude: 52.6), state: .outside) == nil)
        #expect(watch.timePassed(sinceBoot: 90_000).map(\.fires) == [true, true])
        watch.forgetPosition()
        #expect(watch.add(3, region()) == nil && watch.nextDeadline == nil)
        #expect(watch.keys.sorted() == [1, 2, 3])
    }

    @Test func `a position that contradicts ends a crossing, one too near to tell does not`() throws {
        var watch = RegionWatch()
        _ = watch.add(1, region(), state: .inside)
        _ = try report(&watch, north: 300, at: 0)
        _ = try report(&watch, north: 100, at: 10)
        #expect(watch.nextDeadline == nil && watch.timePassed(sinceBoot: 100_000) == [])
        _ = try report(&watch, north: 300, at: 200)
        _ = try report(&watch, north: 205, at: 210)
        #expect(watch.timePassed(sinceBoot: 220_000).map(\.fires) == [true])
    }

    @Test func `a crossing while nobody watched fires`() throws {
        var watch = RegionWatch()
        _ = watch.add(1, region(), state: .outside)
        _ = try report(&watch, north: 0, at: 0)
        #expect(watch.timePassed(sinceBoot: 20_000).map(\.fires) == [true])
    }

    @Test func `only the side that is asked for is told of`() throws {
        var watch = RegionWatch()
        _ = watch.add(1, region(onEntry: false), state: .outside)
        _ = try report(&watch, north: 0, at: 0)
        #expect(watch.timePassed(sinceBoot: 20_000) == [RegionWatch.Crossing(key: 1, state: .inside, fires: false)])
        _ = try report(&watch, north: 900, at: 30)
        #expect(watch.timePassed(sinceBoot: 50_000) == [RegionWatch.Crossing(key: 1, state: .outside, fires: true)])
    }

    @Test func `a small circle can be entered with a bad position`() throws {
        var watch = RegionWatch()
        _ = watch.add(1, region(radius: 20), state: .outside)
        _ = try report(&watch, north: 5, accuracy: 90, at: 0)
        #expect(watch.timePassed(sinceBoot: 20_000).map(\.state) == [.inside])
        _ = try report(&watch, north: 29, accuracy: 90, at: 60)
        #expect(watch.nextDeadline == nil)
        _ = try report(&watch, north: 31, accuracy: 90, at: 70)
        #expect(watch.timePassed(sinceBoot: 90_000).map(\.state) == [.outside])
    }

    /// A position's distance from the middle of a circle, how wrong it may be, and what is known of the circle then.
    struct Fix: Sendable, CustomTestStringConvertible {
        var radius: Double
        var north: Double
        var accuracy: Double
        var known = RegionWatch.State.unknown
        var then: RegionWatch.State
        var testDescription: String { "\(accuracy) m, \(north) m from the middle of \(radius) m, \(known)" }
    }

    @Test(arguments: [
        // By the address of the network: the same city, and another one.
        Fix(radius: 100, north: 9000, accuracy: 25_000, known: .inside, then: .inside),
        Fix(radius: 100, north: 0, accuracy: 25_000, known: .outside, then: .outside),
        Fix(radius: 100, north: 0, accuracy: 25_000, then: .unknown),
        Fix(radius: 100, north: 9000, accuracy: 25_000, then: .unknown),
        Fix(radius: 100, north: 25_090, accuracy: 25_000, known: .inside, then: .inside),
        Fix(radius: 100, north: 26_000, accuracy: 25_000, known: .inside, then: .outside),
        Fix(radius: 100, north: 26_000, accuracy: 25_000, then: .outside),
        // As wide as the circle, and a little more.
        Fix(radius: 100, north: 10, accuracy: 200, known: .outside, then: .inside),
        Fix(radius: 100, north: 10, accuracy: 201, known: .outside, then: .outside),
        Fix(radius: 100, north: 160, accuracy: 200, known: .inside, then: .outside),
        Fix(radius: 100, north: 160, accuracy: 201, known: .inside, then: .inside),
        Fix(radius: 20, north: 5, accuracy: 100, known: .outside, then: .inside),
        Fix(radius: 20, north: 5, accuracy: 101, known: .outside, then: .outside),
        // A large circle is wider than a network's address is wrong.
        Fix(radius: 50_000, north: 0, accuracy: 25_000, known: .outside, then: .inside),
        Fix(radius: 100, north: 0, accuracy: .greatestFiniteMagnitude, known: .outside, then: .outside),
    ])
    func `a position tells of a circle what it is exact enough for`(fix: Fix) throws {
        var watch = RegionWatch()
        _ = watch.add(1, region(radius: fix.radius), state: fix.known)
        _ = try report(&watch, north: fix.north, accuracy: fix.accuracy, at: 0)
        _ = watch.timePassed(sinceBoot: 20_000)
        #expect(watch.state(of: 1) == fix.then)
    }

    @Test func `an inexact position does not end a crossing that has begun`() throws {
        var watch = RegionWatch()
        _ = watch.add(1, region(radius: 100), state: .outside)
        _ = try report(&watch, north: 0, at: 0)
        _ = try report(&watch, north: 9000, accuracy: 25_000, at: 10)
        #expect(watch.timePassed(sinceBoot: 20_000).map(\.state) == [.inside])
    }

    @Test(
        arguments: [
            (Double.nan, 0, 5), (91, 0, 5), (0, -181, 5), (0, .infinity, 5), (0, 0, -1), (0, 0, .nan),
            (0, 0, .infinity),
        ] as [(Double, Double, Double)])
    func `a position that is none is refused`(latitude: Double, longitude: Double, accuracy: Double) {
        var watch = RegionWatch()
        _ = watch.add(1, region(), state: .inside)
        #expect(
            watch.positionReported(latitude: latitude, longitude: longitude, accuracy: accuracy, sinceBoot: 0)
                == .failure(.notOnEarth))
        #expect(watch.nextDeadline == nil)
    }

    @Test func `circles that are none, and too many, are refused`() {
        var watch = RegionWatch(most: 2)
        for radius in [0, -1, .nan, .infinity] { #expect(watch.add(1, region(radius: radius)) == .notOnEarth) }
        #expect(watch.add(1, region(latitude: .nan)) == .notOnEarth)
        #expect(watch.add(1, region()) == nil && watch.add(2, region()) == nil && watch.add(1, region()) == nil)
        #expect(watch.add(3, region()) == .full)
        watch.remove(2)
        #expect(watch.add(3, region()) == nil && watch.count == 2)
    }

    @Test func `distances are those of a sphere`() throws {
        var watch = RegionWatch()
        // Berlin to Paris, 878 km; and over the date line and the pole.
        _ = watch.add(
            1,
            NotificationTrigger.Region(
                identifier: "", latitude: 52.52, longitude: 13.405, radius: 878_500, onEntry: true, onExit: true),
            state: .outside)
        _ = watch.add(
            2,
            NotificationTrigger.Region(
                identifier: "", latitude: 52.52, longitude: 13.405, radius: 876_500, onEntry: true, onExit: true),
            state: .inside)
        _ = watch.positionReported(latitude: 48.8566, longitude: 2.3522, accuracy: 1, sinceBoot: 0)
        #expect(watch.timePassed(sinceBoot: 20_000).map(\.key) == [1, 2])
        var line = RegionWatch()
        _ = line.add(
            3,
            NotificationTrigger.Region(
                identifier: "", latitude: 0, longitude: 179.999, radius: 300, onEntry: true, onExit: true),
            state: .outside)
        _ = line.positionReported(latitude: 0, longitude: -179.999, accuracy: 1, sinceBoot: 0)
        #expect(line.timePassed(sinceBoot: 20_000).map(\.state) == [.inside])
    }
}
