import AgentEngine
import Foundation
import Platform

/// The machine's position from GeoClue: org.freedesktop.GeoClue2 on the system bus.
///
/// It is asked for an exact position, by the name `desktopID`, and the bus may start it. While no request waits for a
/// place there is no client of ours, so that GeoClue is idle too. A GeoClue that ends is asked again after 1 s, 2 s, …
/// 60 s. One that refuses, or waits in vain for the desktop's agent, is asked again after a minute, two, … an hour,
/// since it may ask a person each time. On a machine without GeoClue it is asked when it appears.
package final class GeoCluePosition: PositionSource {
    /// The service's own name.
    package let name = "GeoClue"
    private let thread: PositionThread

    /// Creates a source, which does not connect before ``start(events:)``.
    ///
    /// - Parameters:
    ///   - busAddress: The system bus.
    ///   - desktopID: The id of the client, as GeoClue's configuration and the person know it.
    package init(busAddress: String, desktopID: String) {
        thread = PositionThread(name: "aldaba-place") {
            GeoClueWork(address: busAddress, desktopID: desktopID, teller: $0)
        }
    }

    /// Begins on a thread of its own; may be called again after ``rest()``.
    package func start(events: @escaping @Sendable (PositionEvent) -> Void) { thread.start(events: events) }
    /// Ends our client of GeoClue's, so that it need not look.
    package func rest() { thread.rest() }
    /// Ends the thread; nothing is reported any more.
    package func stop() { thread.stop() }
}

/// A client of GeoClue's; used on the source's thread only.
///
/// Only messages of the connection that answered the first call count; the bus vouches for the sender.
private final class GeoClueWork: PositionWork {
    private static let service = "org.freedesktop.GeoClue2"
    private static let client = "\(service).Client"
    private static let location = "\(service).Location"
    private static let bus = "org.freedesktop.DBus"
    private static let properties = "\(bus).Properties"
    /// How long the bus may take to start it, and it to answer.
    private static let timeout = Duration.seconds(25)
    /// How long the person may take to decide, and the desktop's agent to start: GeoClue answers then, or ends, which
    /// the bus reports.
    private static let longTimeout = Duration.seconds(3_600)
    private static let otherwise = "or let something else tell (the setting position)"

    private enum Call { case client, property, start, location }

    private let address: String
    private let desktopID: String
    private let teller: PositionReporter
    private var connection: BusConnection?
    private var calls = BusCalls<Call>()
    /// Our client, and GeoClue's unique name.
    private var session: (owner: String, path: String)?
    /// A location that is newer than the one that was asked for.
    private var newer: String?
    private var nextAttempt: ContinuousClock.Instant?
    /// The time at which to report that it does not answer.
    private var complaint: ContinuousClock.Instant?
    private var backOff = BackOff()
    private var longBackOff = BackOff(base: .seconds(60), cap: .seconds(3_600))

    init(address: String, desktopID: String, teller: PositionReporter) {
        self.address = address
        self.desktopID = BusValue.plain(desktopID)
        self.teller = teller
        do throws(BusError) {
            try connect()
        } catch {
            // A machine without a bus at the start is left alone.
            teller.fail("there is no system bus (\(error)), so GeoClue cannot be asked; start one, \(Self.otherwise)")
        }
    }

    var descriptors: [pollfd] {
        let events = connection?.hasMessagesToSend == true ? Int16(POLLIN) | Int16(POLLOUT) : Int16(POLLIN)
        return [pollfd(fd: connection?.descriptor ?? -1, events: events, revents: 0)]
    }
    var deadline: ContinuousClock.Instant? { [nextAttempt, complaint, calls.deadline].compactMap { $0 }.min() }

    func work() {
        if let nextAttempt, nextAttempt <= .now { attempt() }
        if let complaint, complaint <= .now { complain() }
        guard let connection else { return }
        connection.transfer()
        while let message = connection.next() { handleMessage(message) }
        if calls.takeLate().contains(where: { $0 != .property }) { tryAgain("GeoClue did not answer in time") }
        guard !connection.isConnected else { return }
        self.connection = nil
        tryAgain("the system bus is gone")
    }

    func end() {
        if let session {
            call(.property, path: session.path, interface: Self.client, method: "Stop", to: session.owner)
        }
        connection?.transfer()
        connection = nil
    }

    // MARK: Asking

    private func connect() throws(BusError) {
        let opened = try BusConnection(address: address)
        opened.subscribe("type='signal',sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.service)'")
        opened.subscribe(
            "type='signal',sender='\(Self.service)',interface='\(Self.client)',member='LocationUpdated'")
        connection = opened
        askForClient()
    }

    private func attempt() {
        nextAttempt = nil
        guard connection == nil else { return askForClient() }
        do throws(BusError) {
            try connect()
        } catch {
            nextAttempt = backOff.deadline()
        }
    }

    private func askForClient() {
        nextAttempt = nil
        complaint = .now + Self.timeout
        call(
            .client, path: "/org/freedesktop/GeoClue2/Manager", interface: "\(Self.service).Manager",
            method: "GetClient", to: Self.service)
    }

    private func begin(_ path: String, of owner: String) {
        complaint = nil
        session = (owner, path)
        // 8 asks for the greatest accuracy. Every position is reported, since a more exact one carries more, but no
        // more than one in some seconds: a crossing takes twenty.
        let wishes: [(String, BusValue)] = [
            ("DesktopId", .string(desktopID)), ("RequestedAccuracyLevel", .uint32(8)),
            ("DistanceThreshold", .uint32(0)), ("TimeThreshold", .uint32(5)),
        ]
        for (name, value) in wishes {
            call(
                .property, path: path, interface: Self.properties, method: "Set",
                values: [.string(Self.client), .string(name), .variant(value)],
                to: owner)
        }
        call(.start, path: path, interface: Self.client, method: "Start", to: owner)
    }

    private func askForLocation(_ path: String) {
        guard let owner = session?.owner else { return }
        guard !calls.contains(where: { $0 == .location }) else { return newer = path }
        call(
            .location, path: path, interface: Self.properties, method: "GetAll", values: [.string(Self.location)],
            to: owner)
    }

    private func call(
        _ call: Call, path: String, interface: String, method: String, values: [BusValue] = [], to name: String
    ) {
        guard let message = BusMessage(destination: name, path: path, interface: interface, method: method),
            message.append(values), let serial = connection?.send(message)
        else { return tryAgain("the call of GeoClue could not be written") }
        let isLong = call == .start || call == .client
        calls.add(call, serial: serial, timeout: isLong ? Self.longTimeout : Self.timeout)
    }

    private func tryAgain(_ reason: String) {
        forget()
        nextAttempt = backOff.deadline()
        teller.fail("\(reason); it is asked again, \(Self.otherwise)")
    }

    /// Reports that GeoClue does not answer: it waits for an agent of the desktop.
    private func complain() {
        complaint = nil
        teller.fail(
            "GeoClue does not answer; it waits for the desktop's agent that asks the person: start one, \(Self.otherwise)"
        )
    }

    private func forget() {
        (session, newer, complaint) = (nil, nil, nil)
        calls = BusCalls()
    }

    // MARK: Hearing

    private func handleMessage(_ message: borrowing BusMessage) {
        if message.isReply || message.isError {
            guard let call = calls.take(message.answers) else { return }
            if message.isError { return refused(call, message.errorName) }
            return answered(call, message.arguments.first, by: message.sender)
        }
        if message.isSignal(Self.client, "LocationUpdated") {
            guard let session, message.sender == session.owner, message.path == session.path,
                case .path(let location)? = message.arguments.last, location != "/"
            else { return }
            askForLocation(location)
        } else if message.isSignal(Self.bus, "NameOwnerChanged"), message.sender == Self.bus {
            guard case .string(let owner)? = message.arguments.last else { return }
            ownerChanged(owner)
        }
    }

    private func ownerChanged(_ owner: String) {
        if let session, session.owner != owner { return tryAgain("GeoClue has ended") }
        // GeoClue has appeared on a machine that had none.
        if session == nil, !owner.isEmpty, calls.deadline == nil, nextAttempt == nil { askForClient() }
    }

    private func answered(_ call: Call, _ value: BusValue?, by owner: String?) {
        switch (call, value) {
        case (.client, .path(let path)?): if let owner { begin(path, of: owner) }
        case (.location, .dictionary(let members)?):
            report(members)
            if let newer {
                self.newer = nil
                askForLocation(newer)
            }
        case (.property, _), (.start, _): break
        default: tryAgain("GeoClue's answer has another form than its interface says")
        }
    }

    private func report(_ members: [String: BusValue]) {
        func number(_ name: String) -> Double? { if case .double(let number)? = members[name] { number } else { nil } }
        guard let latitude = number("Latitude"), let longitude = number("Longitude") else {
            return teller.fail("GeoClue's location has no latitude and longitude")
        }
        let position = Position(latitude: latitude, longitude: longitude, accuracy: number("Accuracy") ?? 0)
        // It works, and not only answers.
        backOff.reset()
        longBackOff.reset()
        teller.report(PositionLine.check(position), of: "GeoClue's location")
    }

    private func refused(_ call: Call, _ error: String) {
        switch error {
        case _ where call == .property: break
        case "\(Self.bus).Error.ServiceUnknown", "\(Self.bus).Error.NameHasNoOwner":
            forget()
            teller.fail("no GeoClue is on the system bus; install the package geoclue-2.0, \(Self.otherwise)")
        case "\(Self.bus).Error.NoReply" where call == .client:
            complain()
            forget()
            nextAttempt = longBackOff.deadline()
        case "\(Self.bus).Error.AccessDenied":
            forget()
            nextAttempt = longBackOff.deadline()
            teller.fail(
                "GeoClue does not let \(desktopID) know; allow it in the desktop's settings for privacy or in "
                    + "geoclue.conf ([\(desktopID)] with allowed=true, system=true and users=), \(Self.otherwise)")
        // The location is an object of its own, which may have gone since.
        case _ where call == .location:
            guard let next = newer else { return }
            newer = nil
            askForLocation(next)
        default: tryAgain("GeoClue answered \(error)")
        }
    }
}
