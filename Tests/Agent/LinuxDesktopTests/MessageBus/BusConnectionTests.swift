import AldabaTestSupport
import Foundation
import Platform
import Testing

@testable import LinuxDesktop

/// Two connections on a bus of the test's own.
@Suite(.enabled(if: PrivateBus.isPossible), .timeLimit(.minutes(5)))
struct BusConnectionTests {
    private static let interface = "com.example.Talk"

    /// The next signal of a name that is ours, or `nil` when the connection ends.
    private func hear<Answer>(_ member: String, on bus: BusConnection, _ read: (borrowing BusMessage) -> Answer)
        -> Answer?
    {
        while bus.isConnected {
            bus.transfer()
            while let message = bus.next() { if message.isSignal(Self.interface, member) { return read(message) } }
            var descriptors = [pollfd(fd: bus.descriptor, events: Int16(POLLIN), revents: 0)]
            if bus.isConnected { Pause.poll(&descriptors, until: .now + .seconds(20)) }
        }
        return nil
    }

    @Test(
        arguments: [
            [.string("text"), .uint32(7), .int32(-7), .byte(1), .boolean(true)], [.double(-52.516272)],
            [.strings(["a", ""])],
            [.dictionary(["Latitude": .double(1.5), "Name": .string("x"), "Flag": .boolean(false)])],
            [.dictionary([:])],
        ] as [[BusValue]])
    func `values come as they were sent`(values: [BusValue]) throws {
        let bus = try PrivateBus()
        let (one, other) = (
            try BusConnection(address: bus.address, timeout: .seconds(20)),
            try BusConnection(address: bus.address, timeout: .seconds(20))
        )
        other.subscribe("type='signal',interface='\(Self.interface)'")
        other.transfer()
        // The bus has taken the rule when it has answered what was asked afterwards.
        #expect(ask(other) == [.string("org.freedesktop.DBus")])
        #expect(say(values, on: one))
        let heard = hear("Said", on: other) { ($0.arguments, $0.sender, $0.path) }
        #expect(heard?.0 == values)
        #expect(heard?.1?.hasPrefix(":") == true && heard?.2 == "/talk")
    }

    /// Sends a signal; whether that could be written.
    private func say(_ values: [BusValue], on bus: BusConnection) -> Bool {
        guard let message = BusMessage(path: "/talk", interface: Self.interface, signal: "Said"),
            message.append(values), bus.send(message) != nil
        else { return false }
        bus.transfer()
        return true
    }

    /// Who owns the bus' own name.
    private func ask(_ bus: BusConnection) -> [BusValue]? {
        let name = "org.freedesktop.DBus"
        guard
            let message = BusMessage(
                destination: name, path: "/org/freedesktop/DBus", interface: name, method: "GetNameOwner"),
            message.append([.string(name)]), let serial = bus.send(message)
        else { return nil }
        while bus.isConnected {
            bus.transfer()
            while let answer = bus.next() { if answer.answers == serial { return answer.arguments } }
            var descriptors = [pollfd(fd: bus.descriptor, events: Int16(POLLIN), revents: 0)]
            if bus.isConnected { Pause.poll(&descriptors, until: .now + .seconds(20)) }
        }
        return nil
    }

    @Test func `a variant is read as what it holds`() throws {
        let bus = try PrivateBus()
        let connection = try BusConnection(address: bus.address, timeout: .seconds(20))
        connection.subscribe("type='signal',interface='\(Self.interface)'")
        #expect(ask(connection) != nil)
        #expect(say([.variant(.uint32(8))], on: connection))
        #expect(hear("Said", on: connection) { $0.arguments } == [.uint32(8)])
    }

    @Test func `a bus that ends is no longer connected`() throws {
        let bus = try PrivateBus()
        let connection = try BusConnection(address: bus.address, timeout: .seconds(20))
        bus.end()
        #expect(hear("Said", on: connection) { _ in () } == nil)
        #expect(!connection.isConnected)
    }

    @Test(arguments: ["unix:path=/nonexistent/bus", "nonsense", ""])
    func `an address where no bus is says why`(address: String) {
        do {
            _ = try BusConnection(address: address)
            Issue.record("there is a bus at \(address)")
        } catch {
            #expect(!error.description.isEmpty)
        }
    }

    @Test func `NUL is left out of text`() {
        #expect(BusValue.plain("a\0b") == "ab")
    }

    @Test func `the system's bus is where the environment says, else at its usual place`() {
        #expect(SystemBus.address(environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/b"]) == "unix:path=/b")
        for environment in [[:], ["DBUS_SYSTEM_BUS_ADDRESS": ""]] {
            #expect(SystemBus.address(environment: environment) == "unix:path=/var/run/dbus/system_bus_socket")
        }
    }
}
