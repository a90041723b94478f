import AgentEngine
import AldabaTestSupport
import Foundation
import Platform
import PushCore
import Scheduling
import Testing

@testable import LinuxDesktop

/// What the clock hears on a bus of the test's own, on which the test is login1 and timedate1.
@Suite(.enabled(if: PrivateBus.isPossible), .timeLimit(.minutes(5)))
struct BusWatchTests {
    private static let login = "org.freedesktop.login1"
    private static let time = "org.freedesktop.timedate1"

    /// A service on the bus.
    private final class Service {
        private let connection: BusConnection

        init(_ name: String, on bus: PrivateBus) throws {
            connection = try BusConnection(address: bus.address, timeout: .seconds(20))
            try #require(call("RequestName", [.string(name), .uint32(4)]))
        }

        func prepareForSleep(_ isAboutToSleep: Bool) {
            let path = "/org/freedesktop/login1"
            #expect(signal(path, "\(BusWatchTests.login).Manager", "PrepareForSleep", [.boolean(isAboutToSleep)]))
        }

        func changeZone() {
            #expect(
                signal(
                    "/org/freedesktop/timedate1", "org.freedesktop.DBus.Properties", "PropertiesChanged",
                    [.string(BusWatchTests.time), .dictionary(["Timezone": .string("Europe/Berlin")]), .strings([])]))
        }

        /// Returns when the bus has forwarded it: by then it has answered what came after.
        private func signal(_ path: String, _ interface: String, _ member: String, _ values: [BusValue]) -> Bool {
            guard let message = BusMessage(path: path, interface: interface, signal: member), message.append(values),
                connection.send(message) != nil
            else { return false }
            return call("GetId", [])
        }

        /// Asks the bus; whether it answered.
        private func call(_ method: String, _ values: [BusValue]) -> Bool {
            let bus = "org.freedesktop.DBus"
            guard
                let message = BusMessage(
                    destination: bus, path: "/org/freedesktop/DBus", interface: bus, method: method),
                message.append(values), let serial = connection.send(message)
            else { return false }
            while connection.isConnected {
                connection.transfer()
                while let answer = connection.next() { if answer.answers == serial { return answer.isReply } }
                var descriptors = [pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)]
                Pause.poll(&descriptors, until: .now + .seconds(20))
            }
            return false
        }
    }

    /// A clock that listens on the bus already.
    private func start(_ bus: PrivateBus) async throws -> (SystemClock, AsyncStream<AlarmClockEvent>.Iterator) {
        let clock = try SystemClock(localtime: "/nonexistent/localtime", busAddress: bus.address)
        let (stream, continuation) = AsyncStream.makeStream(of: AlarmClockEvent.self)
        clock.start { continuation.yield($0) }
        var heard = stream.makeAsyncIterator()
        clock.arm(Timestamp(rawValue: 1))
        #expect(await heard.next() == .rang)
        // The last rule that it asks for is with the bus, and so are the questions before.
        var rules = ""
        while !rules.contains("PropertiesChanged") {
            rules = try bus.call(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Debug.Stats.GetAllMatchRules")
        }
        return (clock, heard)
    }

    @Test func `the end of a sleep is told of, and its beginning is not`() async throws {
        let bus = try PrivateBus()
        let login = try Service(Self.login, on: bus)
        var (clock, heard) = try await start(bus)
        login.prepareForSleep(true)
        login.prepareForSleep(false)
        #expect(await heard.next() == .wallClockChanged)
        clock.arm(Timestamp(rawValue: 1))
        #expect(await heard.next() == .rang, "that was all")
        clock.stop()
    }

    @Test func `a service that comes later is heard`() async throws {
        let bus = try PrivateBus()
        var (clock, heard) = try await start(bus)
        let time = try Service(Self.time, on: bus)
        time.changeZone()
        #expect(await heard.next() == .zoneChanged)
        clock.stop()
    }

    @Test func `what somebody else sends to it is not heard`() async throws {
        let bus = try PrivateBus()
        var (clock, heard) = try await start(bus)
        let login = try Service(Self.login, on: bus)
        for name in [nil, ":1.0"] {
            try bus.signal(
                "/org/freedesktop/login1", "\(Self.login).Manager.PrepareForSleep", "boolean:false", to: name)
            try bus.signal(
                "/org/freedesktop/timedate1", "org.freedesktop.DBus.Properties.PropertiesChanged",
                "string:\(Self.time)", to: name)
        }
        login.prepareForSleep(false)
        #expect(await heard.next() == .wallClockChanged)
        clock.arm(Timestamp(rawValue: 1))
        #expect(await heard.next() == .rang, "it was heard once, and the zone was not")
        clock.stop()
    }

    @Test func `a bus that ends is found again, and everything is looked at then`() async throws {
        let bus = try PrivateBus()
        var (clock, heard) = try await start(bus)
        bus.end()
        try bus.begin()
        #expect(await heard.next() == .wallClockChanged)
        #expect(await heard.next() == .zoneChanged)
        let login = try Service(Self.login, on: bus)
        login.prepareForSleep(false)
        #expect(await heard.next() == .wallClockChanged)
        clock.stop()
    }

    @Test func `a bus that takes connections no more holds up neither rings nor the zone`() async throws {
        let folder = try TemporaryFolder()
        let bus = try FullSocket(folder.path("bus"))
        let link = folder.path("localtime")
        let clock = try SystemClock(localtime: link, busAddress: "unix:path=\(folder.path("bus"))")
        let (stream, continuation) = AsyncStream.makeStream(of: AlarmClockEvent.self)
        clock.start { continuation.yield($0) }
        var heard = stream.makeAsyncIterator()
        clock.arm(clock.now().wall.adding(milliseconds: 20))
        #expect(await heard.next() == .rang)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "elsewhere")
        #expect(await heard.next() == .zoneChanged)
        clock.stop()
        bus.end()
    }

    @Test func `without a bus it rings all the same`() async throws {
        let clock = try SystemClock(busAddress: "unix:path=/nonexistent/bus")
        let (stream, continuation) = AsyncStream.makeStream(of: AlarmClockEvent.self)
        clock.start { continuation.yield($0) }
        var heard = stream.makeAsyncIterator()
        clock.arm(clock.now().wall.adding(milliseconds: 20))
        #expect(await heard.next() == .rang)
        clock.stop()
    }
}

/// A socket at which so many wait already that the next one has to.
private final class FullSocket {
    private let listener: Int32
    private var waiting: [Int32] = []

    init(_ path: String) throws {
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(Self.withAddress(path) { bind(listener, $0, $1) } == 0 && listen(listener, 0) == 0)
        while true {
            let peer = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            waiting.append(peer)
            guard Self.withAddress(path, { connect(peer, $0, $1) }) == 0 else { break }
        }
        try #require(errno == EAGAIN)
    }

    /// Lets go of who waits.
    func end() { for each in waiting + [listener] { close(each) } }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
