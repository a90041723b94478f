import Foundation
import LinuxDesktop
import Platform
import Synchronization

/// Announces and finds devices by DNS-SD, as Avahi does it (org.freedesktop.Avahi on the system bus).
///
/// The announcement has a random host name of its own, so that it does not reveal the machine's. When Avahi is absent
/// or ends, it is tried again after 1 s, 2 s, … 60 s, and when it starts.
package final class AvahiDirectory: Sendable {
    private struct Orders {
        var announcement: NearbyAnnouncement?
        var count = 0
        var isStopped = false
    }

    private let address: String
    private let wakeUp: WakeUp?
    private let orders = Mutex(Orders())

    /// Connects to nothing before ``start(events:)``.
    ///
    /// - Parameter busAddress: The system bus.
    package init(busAddress: String) {
        address = busAddress
        wakeUp = try? WakeUp()
    }

    /// Begins on a thread of its own, which has this object until ``stop()``.
    package func start(events: @escaping @Sendable (NearbyEvent) -> Void) {
        guard let wakeUp else { return events(.unavailable(reason: "the system has no descriptor left")) }
        NamedThread.begin("aldaba-nearby", stackSize: 512 << 10) { [self] in
            let work = AvahiWork(address: address, events: events)
            while true {
                wakeUp.clear()
                let order = orders.withLock { $0 }
                if order.isStopped { return work.end() }
                work.announce(order.announcement, order.count)
                work.work()
                var descriptors = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0), work.descriptor]
                if !Pause.poll(&descriptors, until: work.deadline) {
                    return events(.unavailable(reason: "the system bus cannot be waited for"))
                }
            }
        }
    }

    /// Announces anew, also where nothing is new: the machine's addresses may be.
    package func announce(_ announcement: NearbyAnnouncement?) {
        orders.withLock {
            $0.announcement = announcement
            $0.count += 1
        }
        wakeUp?.signal()
    }

    /// Ends the thread; Avahi takes the announcement back by itself.
    package func stop() {
        orders.withLock { $0.isStopped = true }
        wakeUp?.signal()
    }
}

/// The state of the thread that communicates with Avahi. Only messages of the connection that answered the first call
/// count, as identified by the bus.
private final class AvahiWork {
    private static let service = "org.freedesktop.Avahi"
    private static let server = "\(service).Server"
    private static let group = "\(service).EntryGroup"
    private static let browser = "\(service).ServiceBrowser"
    private static let bus = "org.freedesktop.DBus"
    /// Any interface; either version of the protocol; an address without its reverse entry, since a machine's address
    /// has several names then.
    private static let anyInterface: Int32 = -1, anyVersion: Int32 = -1, withoutReverse: UInt32 = 16
    /// How many announcements are looked at at a time.
    private static let resolvingLimit = 64
    /// How long Avahi may take to look at one: it gives up by itself after five seconds.
    private static let resolvingTimeout = Duration.seconds(10)

    /// The least time that an announcement is published, and the most announcements beside the newest. Avahi silently
    /// withdraws an announcement that is younger than a second: others would keep it for an hour and more.
    private static let shortestStay = Duration.seconds(2)
    private static let stayingLimit = 8

    /// An announcement, as Avahi names it.
    private struct Item: Hashable {
        var interface: Int32
        var version: Int32
        var name: String
        var domain: String

        var id: String { "\(interface)/\(version)/\(name)" }
    }

    private enum Call {
        case browser, group, publish
        case resolve(Item)

        var isResolving: Bool { if case .resolve = self { true } else { false } }
    }

    private let address: String
    private let events: (NearbyEvent) -> Void
    private var connection: BusConnection?
    private var calls = BusCalls<Call>()
    private var resolving = 0
    /// Avahi's unique name, our browser and our group.
    private var owner: String?
    private var browserPath: String?
    private var groupPath: String?
    private var isGroupAwaited = false
    /// The time until which the group must stay, and the earlier groups that must stay.
    private var groupStays = ContinuousClock.now
    private var staying: [(path: String, until: ContinuousClock.Instant)] = []
    private var wanted: NearbyAnnouncement?
    private var order = -1
    /// The announced services, whether they have been resolved or not.
    private var items: Set<Item> = []
    /// The items that are queued to be resolved.
    private var waiting: [Item] = []
    private var nextAttempt: ContinuousClock.Instant?
    private var backOff = BackOff()
    private var fault: String?

    init(address: String, events: @escaping (NearbyEvent) -> Void) {
        self.address = address
        self.events = events
        attempt()
    }

    var descriptor: pollfd {
        let events = connection?.hasMessagesToSend == true ? Int16(POLLIN) | Int16(POLLOUT) : Int16(POLLIN)
        return pollfd(fd: connection?.descriptor ?? -1, events: events, revents: 0)
    }
    var deadline: ContinuousClock.Instant? {
        [nextAttempt, calls.deadline, staying.first?.until].compactMap { $0 }.min()
    }

    func announce(_ announcement: NearbyAnnouncement?, _ order: Int) {
        guard order != self.order else { return }
        self.order = order
        wanted = announcement
        if owner != nil { requestEntryGroup() }
    }

    func work() {
        if let nextAttempt, nextAttempt <= .now { attempt() }
        guard let connection else { return }
        connection.transfer()
        while let message = connection.next() { handleMessage(message) }
        while let first = staying.first, first.until <= .now || staying.count > Self.stayingLimit {
            staying.removeFirst()
            free(first.path)
        }
        for late in calls.takeLate() {
            if case .resolve(let item) = late {
                resolved(item, again: true)
            } else {
                tryAgain("Avahi did not answer in time")
            }
        }
        // Answers may have been followed by calls.
        connection.transfer()
        guard !connection.isConnected else { return }
        self.connection = nil
        tryAgain("the system bus is gone")
    }

    func end() {
        for path in staying.map(\.path) + [groupPath].compactMap({ $0 }) { free(path) }
        connection?.transfer()
        connection = nil
    }

    // MARK: Asking

    private func attempt() {
        nextAttempt = nil
        do throws(BusError) {
            if connection == nil {
                let opened = try BusConnection(address: address)
                opened.subscribe("type='signal',sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.service)'")
                opened.subscribe("type='signal',sender='\(Self.service)',interface='\(Self.browser)'")
                opened.subscribe("type='signal',sender='\(Self.service)',interface='\(Self.group)'")
                connection = opened
            }
            let values: [BusValue] = [
                .int32(Self.anyInterface), .int32(Self.anyVersion), .string(NearbyText.type), .string(""), .uint32(0),
            ]
            call("ServiceBrowserNew", of: Self.server, at: "/", values, for: .browser)
        } catch { tryAgain("there is no system bus (\(error))") }
    }

    /// Requests a new entry group. The previous one is freed, or stays until it has been published long enough.
    private func requestEntryGroup() {
        if let groupPath, groupStays > .now {
            staying.append((groupPath, groupStays))
        } else if let groupPath {
            free(groupPath)
        }
        groupPath = nil
        guard wanted != nil, !isGroupAwaited else { return }
        isGroupAwaited = true
        call("EntryGroupNew", of: Self.server, at: "/", for: .group)
    }

    private func free(_ path: String) { call("Free", of: Self.group, at: path, for: .publish) }

    private func publish(_ announcement: NearbyAnnouncement, _ path: String) {
        let host = announcement.name + ".local"
        let text = NearbyText.write(salt: announcement.salt, tag: announcement.tag)
        let addresses = LocalAddress.all()
        for address in addresses {
            let values: [BusValue] = [
                .int32(address.interface), .int32(Self.anyVersion), .uint32(Self.withoutReverse), .string(host),
                .string(address.address.text),
            ]
            call("AddAddress", of: Self.group, at: path, values, for: .publish)
        }
        for interface in Set(addresses.map(\.interface)).sorted() {
            let values: [BusValue] = [
                .int32(interface), .int32(Self.anyVersion), .uint32(0), .string(announcement.name),
                .string(NearbyText.type), .string(""), .string(host), .uint16(announcement.port), .data(text),
            ]
            call("AddService", of: Self.group, at: path, values, for: .publish)
        }
        call("Commit", of: Self.group, at: path, for: .publish)
        groupStays = .now + Self.shortestStay
    }

    private func call(
        _ method: String, of interface: String, at path: String, _ values: [BusValue] = [], for call: Call
    ) {
        guard
            let message = BusMessage(
                destination: owner ?? Self.service, path: path, interface: interface, method: method),
            message.append(values)
        else { return tryAgain("the call of Avahi could not be written") }
        message.disableAutoStart()
        guard let serial = connection?.send(message) else { return tryAgain("the bus takes nothing") }
        calls.add(call, serial: serial, timeout: call.isResolving ? Self.resolvingTimeout : BusCalls<Call>.timeout)
    }

    private func tryAgain(_ reason: String) {
        forget()
        nextAttempt = backOff.deadline()
        guard fault != reason else { return }
        fault = reason
        events(.unavailable(reason: reason))
    }

    private func forget() {
        (owner, browserPath, groupPath) = (nil, nil, nil)
        staying = []
        isGroupAwaited = false
        calls = BusCalls()
        resolving = 0
        for item in items { events(.vanished(id: item.id)) }
        items = []
        waiting = []
    }

    // MARK: Hearing

    private func handleMessage(_ message: borrowing BusMessage) {
        if message.isReply || message.isError {
            guard let call = calls.take(message.answers) else { return }
            return message.isError
                ? refused(call, message.errorName) : answered(call, message.arguments, by: message.sender)
        }
        if message.isSignal(Self.bus, "NameOwnerChanged"), message.sender == Self.bus {
            guard case .string(let name)? = message.arguments.last else { return }
            if owner != nil, name != owner { tryAgain("Avahi has ended") }
            if !name.isEmpty, owner == nil { nextAttempt = .now }
            return
        }
        guard let owner, message.sender == owner else { return }
        if message.isSignal(Self.browser, "ItemNew"), message.path == browserPath {
            appeared(message.arguments)
        } else if message.isSignal(Self.browser, "ItemRemove"), message.path == browserPath {
            guard let item = Self.item(of: message.arguments) else { return }
            items.remove(item)
            waiting.removeAll { $0 == item }
            events(.vanished(id: item.id))
        } else if message.isSignal(Self.group, "StateChanged"), message.path == groupPath {
            // 3 is a collision of names, 4 a failure.
            if case .int32(let state)? = message.arguments.first, state >= 3 {
                tryAgain("Avahi could not announce this device")
            }
        }
    }

    private static func item(of arguments: [BusValue]) -> Item? {
        guard arguments.count >= 5, case .int32(let interface) = arguments[0], case .int32(let version) = arguments[1],
            case .string(let name) = arguments[2], case .string(let domain) = arguments[4]
        else { return nil }
        return Item(interface: interface, version: version, name: name, domain: domain)
    }

    private func appeared(_ arguments: [BusValue]) {
        guard let item = Self.item(of: arguments), item.name != wanted?.name, items.count < DirectDialling.limit else {
            return
        }
        if items.insert(item).inserted { look(at: item) }
    }

    /// Asks for an announcement's address, of the version by which it came.
    private func look(at item: Item) {
        guard resolving < Self.resolvingLimit else { return waiting.append(item) }
        resolving += 1
        let values: [BusValue] = [
            .int32(item.interface), .int32(item.version), .string(item.name), .string(NearbyText.type),
            .string(item.domain), .int32(item.version), .uint32(0),
        ]
        call("ResolveService", of: Self.server, at: "/", values, for: .resolve(item))
    }

    /// Handles Avahi's response, or its absence. An announcement whose text did not arrive is resolved again, as long
    /// as it is published: the text was lost in transit, and no other event would report it.
    private func resolved(_ item: Item, again: Bool) {
        resolving -= 1
        if again, items.contains(item) { waiting.append(item) }
        if !waiting.isEmpty { look(at: waiting.removeFirst()) }
    }

    private func answered(_ call: Call, _ arguments: [BusValue], by sender: String?) {
        switch call {
        case .browser:
            guard case .path(let path)? = arguments.first, let sender else { return tryAgain(Self.oddAnswer) }
            owner = sender
            browserPath = path
            backOff.reset()
            fault = nil
            requestEntryGroup()
        case .group:
            isGroupAwaited = false
            guard case .path(let path)? = arguments.first else { return }
            guard let wanted else { return free(path) }
            groupPath = path
            publish(wanted, path)
        case .publish: break
        case .resolve(let item):
            resolved(item, again: false)
            guard items.contains(item), arguments.count >= 10, case .string(let address) = arguments[7],
                case .uint16(let port) = arguments[8],
                case .data(let text) = arguments[9], let read = NearbyText.read(text)
            else { return }
            events(
                .appeared(
                    DiscoveredDevice(
                        id: item.id, interface: item.interface, address: address, port: port, salt: read.salt,
                        tag: read.tag)))
        }
    }

    private static let oddAnswer = "Avahi's answer has another form than its interface says"

    private func refused(_ call: Call, _ error: String) {
        switch call {
        case .resolve(let item): resolved(item, again: error == "\(Self.service).TimeoutError")
        case .publish where error != "\(Self.bus).Error.NameHasNoOwner": events(.unavailable(reason: "Avahi: \(error)"))
        case .browser, .group, .publish:
            let isAbsent = error.hasSuffix(".ServiceUnknown") || error.hasSuffix(".NameHasNoOwner")
            tryAgain(isAbsent ? "no Avahi is on the system bus; install the package avahi-daemon" : "Avahi: \(error)")
        }
    }
}
