import AgentEngine
import Glibc
import Logging
import Networking
import Platform
import PushCore

/// The thread of ``UnifiedPushBus``: answers apps' calls, and calls apps; used on its thread only.
final class UnifiedPushWorker {
    private static let bus = "org.freedesktop.DBus"
    private static let busPath = "/org/freedesktop/DBus"
    /// The time that an app may take to be started and to answer: libdbus' own limit for calls.
    private static let callTimeout = Duration.seconds(25)

    /// A call of ours that waits for its answer.
    private enum Call {
        /// The request for the distributor's name.
        case name
        /// The question who has the name of the app that registers.
        case owner(UnifiedPushRegister, UnifiedPushCall, sender: String)
        case deliver(UnifiedPushVersion, (UnifiedPushOutcome) -> Void)
    }

    private let address: String
    private let wakeUp: WakeUp
    private let logger: Logger
    private let takeCommands: () -> [UnifiedPushBus.Command]
    private var events: (@Sendable (PushDistributorEvent) -> Void)?
    private var connection: BusConnection?
    private var calls = BusCalls<Call>()
    /// The calls of apps that wait for the agent's answer, by their numbers.
    private var callers = ReceivedCalls()
    private var watched: Set<String> = []
    private var nextAttempt = ContinuousClock.now
    private var backOff = BackOff()
    private var isStopped = false

    init(
        address: String, wakeUp: WakeUp, logger: Logger, takeCommands: @escaping () -> [UnifiedPushBus.Command]
    ) {
        self.address = address
        self.wakeUp = wakeUp
        self.logger = logger
        self.takeCommands = takeCommands
    }

    /// Runs until it is stopped.
    func run() {
        while !isStopped {
            sleep()
            wakeUp.clear()
            for command in takeCommands() { perform(command) }
            if events != nil, connection == nil, nextAttempt <= .now { connect() }
            readBus()
            for call in calls.takeLate() { handleLate(call) }
        }
    }

    private func sleep() {
        let events = connection?.hasMessagesToSend == true ? Int16(POLLIN) | Int16(POLLOUT) : Int16(POLLIN)
        var descriptors = [
            pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection?.descriptor ?? -1, events: events, revents: 0),
        ]
        let attempt = connection == nil && self.events != nil ? nextAttempt : nil
        Pause.poll(&descriptors, until: [calls.deadline, attempt].compactMap { $0 }.min())
    }

    private func perform(_ command: UnifiedPushBus.Command) {
        switch command {
        case .start(let events): self.events = events
        case .answer(let call, let failure):
            send(callers.take(call.number), UnifiedPushArguments.answer(failure, call.version))
        case .watch(let service):
            if watched.insert(service).inserted { connection?.subscribe(Self.rule(service)) }
        case .unwatch(let service):
            if watched.remove(service) != nil { connection?.unsubscribe(Self.rule(service)) }
        case .sendEndpoint(let registration):
            let arguments = UnifiedPushArguments.endpoint(of: registration)
            notify(registration, method: "NewEndpoint", arguments)
        case .sendUnregistered(let registration, let isConfirmation):
            let arguments = UnifiedPushArguments.unregistered(registration, isConfirmation: isConfirmation)
            notify(registration, method: "Unregistered", arguments)
        case .deliver(let message, let version, let complete): deliver(message, version: version, then: complete)
        case .stop: isStopped = true
        }
    }

    // MARK: The connection

    private static func rule(_ service: String) -> String {
        "type='signal',sender='\(bus)',member='NameOwnerChanged',arg0='\(service)'"
    }

    private func connect() {
        do {
            let opened = try BusConnection(address: address)
            // Without a flag the bus hands the name over when a program that has it now ends.
            if let request = BusMessage(
                destination: Self.bus, path: Self.busPath, interface: Self.bus, method: "RequestName"),
                request.append([.string(UnifiedPushArguments.distributor), .uint32(0)]),
                let serial = opened.send(request)
            {
                calls.add(.name, serial: serial, timeout: Self.callTimeout)
            }
            for service in watched { opened.subscribe(Self.rule(service)) }
            opened.transfer()
            connection = opened
            // Apps may have come while there was no bus.
            for service in watched { events?(.appeared(service: service)) }
        } catch {
            if backOff.attempts == 0 {
                logger.warning(
                    "Apps of UnifiedPush cannot be served: the session bus cannot be reached.",
                    metadata: [LogKey.error: "\(error)"])
            }
            nextAttempt = backOff.deadline()
        }
    }

    private func readBus() {
        guard let connection else { return }
        connection.transfer()
        while let message = connection.next() { handleMessage(message) }
        if !connection.isConnected { lose() }
    }

    private func lose() {
        connection = nil
        nextAttempt = backOff.deadline()
        callers.removeAll()
        for case .deliver(_, let complete) in calls.takeAll() {
            complete(.unreachable(reason: "the session bus is gone"))
        }
    }

    private func handleMessage(_ message: borrowing BusMessage) {
        if message.isReply || message.isError {
            guard let call = calls.take(message.answers) else { return }
            handleAnswer(message, of: call)
        } else if message.isSignal(Self.bus, "NameOwnerChanged"), message.sender == Self.bus {
            guard case .string(let service)? = message.arguments.first,
                case .string(let owner)? = message.arguments.last, !owner.isEmpty
            else { return }
            events?(.appeared(service: service))
        } else if message.isCall {
            handleCall(message)
        }
    }

    private func handleAnswer(_ answer: borrowing BusMessage, of call: Call) {
        switch call {
        case .name:
            guard answer.isReply else {
                if backOff.attempts == 0 {
                    logger.warning(
                        "Apps of UnifiedPush cannot be served: the bus refuses the name; it is asked again.",
                        metadata: [LogKey.error: "\(answer.errorName)"])
                }
                return lose()
            }
            backOff.reset()
            // 1: this program has the name; otherwise it waits for it (D-Bus specification, "RequestName").
            guard answer.arguments != [.uint32(1)] else { return }
            logger.notice(
                "Another program has org.unifiedpush.Distributor.aldaba; this one serves apps when that ends.")
        case .owner(let asked, let call, let sender):
            // An app that has no name yet is started by it.
            let owner = answer.isReply ? answer.arguments.first : nil
            guard owner == nil || owner == .string(sender) else {
                return send(callers.take(call.number), UnifiedPushArguments.answer(.unauthorized, call.version))
            }
            events?(.register(asked, call))
        case .deliver(_, let complete):
            complete(answer.isReply ? .taken : Self.outcome(of: answer))
        }
    }

    private func handleLate(_ call: Call) {
        switch call {
        case .name: lose()
        case .owner(_, let call, _):
            send(callers.take(call.number), UnifiedPushArguments.answer(.internalError, call.version))
        // By version 1 an app need not answer.
        case .deliver(let version, let complete): complete(version == .one ? .taken : .unanswered)
        }
    }

    /// Errors of the bus itself, which has not reached the app.
    private static let unreachable: Set<String> = [
        "ServiceUnknown", "NameHasNoOwner", "TimedOut", "NoServer", "Disconnected", "AccessDenied", "LimitsExceeded",
    ]

    /// The outcome of a delivery that was answered with an error, by the app or by the bus.
    private static func outcome(of error: borrowing BusMessage) -> UnifiedPushOutcome {
        let (name, prefix) = (error.errorName, "org.freedesktop.DBus.Error.")
        guard error.sender == bus else { return .refused(error: name) }
        // The bus starts some apps by systemd, which has errors of its own.
        guard name.hasPrefix(prefix) else { return .unreachable(reason: name) }
        let rest = String(name.dropFirst(prefix.count))
        if rest == "NoReply" { return .unanswered }
        return unreachable.contains(rest) || rest.hasPrefix("Spawn.")
            ? .unreachable(reason: "it does not run and cannot be started (\(rest))") : .refused(error: name)
    }

    // MARK: Calls of apps

    private func handleCall(_ message: borrowing BusMessage) {
        let version = UnifiedPushVersion.allCases.first {
            message.interface == UnifiedPushArguments.distributorInterface($0)
        }
        switch (message.path, version, message.member) {
        case (UnifiedPushArguments.distributorPath, let version?, "Register"): register(message, version)
        case (UnifiedPushArguments.distributorPath, let version?, "Unregister"):
            guard let token = UnifiedPushArguments.unregister(message.arguments, version) else {
                return refuse(message, with: "InvalidArgs", text: "token must be that of the registration")
            }
            reply(to: message, version == .two ? [.dictionary([:])] : [])
            events?(.unregister(token: token))
        default: handleStandardCall(message)
        }
    }

    /// Calls that every object on the bus answers.
    private func handleStandardCall(_ message: borrowing BusMessage) {
        switch (message.interface, message.member) {
        case ("org.freedesktop.DBus.Peer", "Ping"): reply(to: message, [])
        case ("org.freedesktop.DBus.Introspectable", "Introspect"):
            let isDistributor = message.path == UnifiedPushArguments.distributorPath
            let parent = "<node><node name=\"org/unifiedpush/Distributor\"/></node>\n"
            reply(to: message, [.string(isDistributor ? UnifiedPushArguments.introspection : parent)])
        default:
            refuse(
                message, with: "UnknownMethod",
                text:
                    "\(UnifiedPushArguments.distributorPath) has Register and Unregister of org.unifiedpush.Distributor2 and 1"
            )
        }
    }

    private func register(_ message: borrowing BusMessage, _ version: UnifiedPushVersion) {
        let asked: UnifiedPushRegister
        do throws(UnifiedPushRegister.Fault) {
            asked = try UnifiedPushArguments.register(message.arguments, version)
        } catch { return refuse(message, with: "InvalidArgs", text: error.text) }
        guard let number = callers.add(message) else {
            return reply(to: message, UnifiedPushArguments.answer(.internalError, version))
        }
        let call = UnifiedPushCall(number: number, version: version)
        guard let connection, let sender = message.sender,
            let question = BusMessage(
                destination: Self.bus, path: Self.busPath, interface: Self.bus, method: "GetNameOwner"),
            question.append([.string(asked.service)]), let serial = connection.send(question)
        else { return send(callers.take(number), UnifiedPushArguments.answer(.internalError, version)) }
        connection.transfer()
        calls.add(.owner(asked, call, sender: sender), serial: serial)
    }

    /// Sends a reply that was held; there is none for a caller that wants none, or whose bus is gone.
    private func send(_ reply: consuming BusMessage?, _ values: [BusValue]) {
        guard let reply, reply.append(values) else { return }
        _ = connection?.send(reply)
        connection?.transfer()
    }

    private func reply(to call: borrowing BusMessage, _ values: [BusValue]) {
        guard call.wantsReply, let answer = BusMessage(replyTo: call), answer.append(values) else { return }
        _ = connection?.send(answer)
        connection?.transfer()
    }

    private func refuse(_ call: borrowing BusMessage, with error: String, text: String) {
        guard call.wantsReply,
            let answer = BusMessage(errorTo: call, name: "org.freedesktop.DBus.Error.\(error)", text: text)
        else { return }
        _ = connection?.send(answer)
        connection?.transfer()
    }

    // MARK: Calls to apps

    /// A call of a method of an app's connector.
    private func message(
        _ method: String, to service: String, version: UnifiedPushVersion, arguments: [BusValue]
    ) -> BusMessage? {
        guard
            let message = BusMessage(
                destination: service, path: UnifiedPushArguments.connectorPath,
                interface: UnifiedPushArguments.connectorInterface(version), method: method)
        else { return nil }
        guard message.append(arguments) else { return nil }
        return message
    }

    private func notify(_ registration: UnifiedPushRegistration, method: String, _ arguments: [BusValue]) {
        guard
            let message = message(
                method, to: registration.service, version: registration.version, arguments: arguments)
        else { return }
        // The specification forbids to wait for an answer, and each that the bus expects takes one of its few places.
        message.wantNoReply()
        _ = connection?.send(message)
        connection?.transfer()
    }

    private func deliver(
        _ message: UnifiedPushMessage, version: UnifiedPushVersion,
        then complete: @escaping @Sendable (UnifiedPushOutcome) -> Void
    ) {
        let arguments = UnifiedPushArguments.message(message, version)
        guard let connection,
            let call = self.message("Message", to: message.service, version: version, arguments: arguments),
            let serial = connection.send(call)
        else { return complete(.unreachable(reason: "the session bus is gone")) }
        connection.transfer()
        calls.add(.deliver(version, complete), serial: serial, timeout: Self.callTimeout)
    }
}

/// The replies to calls of apps that wait for the agent's answer, each under a number.
private struct ReceivedCalls {
    /// The maximum number of them.
    private static let limit = UnifiedPushEngine.mostCalls * 2

    private var replies: [UInt64: HeldReply] = [:]
    private var last: UInt64 = 0

    /// Holds the reply to a call; `nil` where as many are held as may be.
    mutating func add(_ message: borrowing BusMessage) -> UInt64? {
        guard replies.count < Self.limit else { return nil }
        last += 1
        replies[last] = HeldReply(to: message)
        return last
    }

    /// Forgets all calls: their bus is gone. Numbers are not used again.
    mutating func removeAll() { replies = [:] }

    /// Removes and returns a reply; `nil` for a caller that wants none, and for a call that was answered, or came over a bus that is
    /// gone.
    mutating func take(_ number: UInt64) -> BusMessage? { replies.removeValue(forKey: number)?.take() }

    /// A message, which a dictionary cannot hold itself.
    private final class HeldReply {
        private var reply: BusMessage?
        init(to call: borrowing BusMessage) { reply = call.wantsReply ? BusMessage(replyTo: call) : nil }
        func take() -> BusMessage? { reply.take() }
    }
}
