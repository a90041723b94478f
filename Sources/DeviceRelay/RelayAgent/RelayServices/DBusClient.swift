import Foundation
import LinuxDesktop
import Platform

/// A conversation with the session's bus that waits for its answers; used by one thread.
final class DBusClient {
    private let connection: BusConnection

    /// Why something on the bus could not be done, in words.
    struct Fault: Error {
        var words: String
        /// The bus' name of the refusal; empty where there is none.
        var name = ""
    }

    init(environment: [String: String]) throws(Fault) {
        do throws(BusError) {
            connection = try BusConnection(address: Self.address(environment), timeout: .seconds(3))
        } catch { throw Fault(words: "there is no session bus: \(error)") }
    }

    static func address(_ environment: [String: String]) -> String {
        if let given = environment["DBUS_SESSION_BUS_ADDRESS"], !given.isEmpty { return given }
        return "unix:path=\(environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(getuid())")/bus"
    }

    /// Calls a method and waits for the answer.
    ///
    /// - Parameters:
    ///   - name: The bus name of the program that has the object at the path.
    ///   - starts: Whether the bus may start the owner of the name.
    func call(
        _ method: String, of interface: String, at path: String, in name: String, _ values: [BusValue] = [],
        starts: Bool = false, timeout: Duration = .seconds(3)
    ) throws(Fault) -> [BusValue] {
        guard let message = BusMessage(destination: name, path: path, interface: interface, method: method),
            message.append(values)
        else { throw Fault(words: "\(interface).\(method) cannot be written") }
        if !starts { message.disableAutoStart() }
        guard let serial = connection.send(message) else { throw Fault(words: "the bus takes nothing") }
        let deadline = ContinuousClock.now + timeout
        while true {
            connection.transfer()
            while let answer = connection.next() {
                guard answer.answers == serial else {
                    note(answer)
                    continue
                }
                guard !answer.isError else {
                    throw Fault(words: "\(name) refuses \(method): \(answer.errorName)", name: answer.errorName)
                }
                return answer.arguments
            }
            try wait(until: deadline, "\(name) does not answer \(method)")
        }
    }

    private var signals: [(interface: String, member: String, path: String?, arguments: [BusValue])] = []
    private var watched: [(interface: String, member: String)] = []

    /// Has signals kept for ``signal(_:_:path:timeout:)``.
    func watch(_ interface: String, _ member: String) {
        watched.append((interface, member))
        connection.subscribe("type='signal',interface='\(interface)',member='\(member)'")
    }

    private func note(_ message: borrowing BusMessage) {
        for (interface, member) in watched where message.isSignal(interface, member) && signals.count < 64 {
            signals.append((interface, member, message.path, message.arguments))
        }
    }

    /// The next signal of an object, or of any; `nil` when none has come in time.
    func signal(_ interface: String, _ member: String, path: String? = nil, timeout: Duration) -> [BusValue]? {
        let deadline = ContinuousClock.now + timeout
        while true {
            let place = signals.firstIndex {
                $0.interface == interface && $0.member == member && (path == nil || $0.path == path)
            }
            if let place { return signals.remove(at: place).arguments }
            signals = []
            connection.transfer()
            var hasCome = false
            while let message = connection.next() {
                note(message)
                hasCome = true
            }
            if hasCome { continue }
            do throws(Fault) { try wait(until: deadline, "") } catch { return nil }
        }
    }

    private func wait(until deadline: ContinuousClock.Instant, _ words: String) throws(Fault) {
        guard connection.isConnected else { throw Fault(words: "the session bus has ended") }
        var polled = [
            pollfd(
                fd: connection.descriptor, events: Int16(POLLIN | (connection.hasMessagesToSend ? POLLOUT : 0)),
                revents: 0)
        ]
        guard Pause.poll(&polled, until: deadline), deadline > .now else { throw Fault(words: words) }
    }
}
