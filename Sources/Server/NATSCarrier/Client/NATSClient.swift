import Logging
import Metrics
import NIOCore
import NIOPosix
import Networking
import PushServer
import Synchronization

/// The state of a connection, for other threads.
final class NATSConnectionState: Sendable {
    /// Whether the server has accepted the login.
    let isReady = Atomic(false)
}

/// The state of a carrier, on its event loop: the connection, the batches that are not answered, and the next attempt to connect.
final class NATSClient {
    /// A batch that was published.
    private struct OpenBatch {
        var request: OpenRequest
        var deadline: NIODeadline
    }

    /// The messages of one call, which may be several batches.
    private final class OpenRequest {
        var left: Int
        var answer = CarrierAnswer.received
        let complete: @Sendable (CarrierAnswer) -> Void

        init(_ count: Int, _ complete: @escaping @Sendable (CarrierAnswer) -> Void) {
            left = count
            self.complete = complete
        }

        func receive(_ answer: CarrierAnswer) {
            if self.answer == .received { self.answer = answer }
            left -= 1
            if left == 0 { complete(self.answer) }
        }
    }

    /// The time after which a batch counts as lost.
    private static let timeout = TimeAmount.seconds(1)
    /// The number of batches that may be open; more count as lost at once.
    private static let openLimit = 16_384
    /// The size of a batch, below what servers take by default (1 MiB).
    private static let batchSize = 256 * 1024
    private static let (subscriptionOfNode, subscriptionOfAnswers) = (1, 2)

    private let address: NATSAddress
    private let subjects: String
    private let cipher: MessageCipher
    private let name: String
    private let logger: Logger
    private let loop: any EventLoop
    /// The subject of answers, of this run alone.
    private let answers = "_INBOX." + String(UInt64.random(in: .min ... .max), radix: 36)
    private var connection: NATSConnection?
    /// The connection that logs in, or has; what it subscribes to is checked with the login.
    private var loggingIn: NATSConnection?
    private let state: NATSConnectionState
    private var isReady: Bool {
        get { state.isReady.load(ordering: .relaxed) }
        set { state.isReady.store(newValue, ordering: .relaxed) }
    }
    /// The largest payload that the server takes.
    private var maximumPayload = 1 << 20
    private var failures = 0
    private var isStopped = false
    private var receiver: (node: UInt16, handle: @Sendable ([NodeMessage]) -> Void)?
    private var open: [UInt64: OpenBatch] = [:]
    private var arrivals = ArrivalOrder()
    /// The numbers of the open batches, in the order of their deadlines, and others that were answered.
    private var order = CircularBuffer<UInt64>()
    private var lastNumber: UInt64 = 0
    private var ticks = 0

    init(
        address: NATSAddress, subjects: String, cipher: MessageCipher, name: String, logger: Logger,
        loop: any EventLoop, state: NATSConnectionState
    ) {
        self.address = address
        self.subjects = subjects
        self.cipher = cipher
        self.name = name
        self.logger = logger
        self.loop = loop
        self.state = state
    }

    // MARK: Messages

    func send(_ messages: [NodeMessage], to node: UInt16, then complete: @escaping @Sendable (CarrierAnswer) -> Void) {
        let batches = NodeMessageWire.encode(messages, limit: min(Self.batchSize, maximumPayload / 2))
        guard isReady, let connection, connection.isWritable, open.count + batches.count <= Self.openLimit,
            !batches.isEmpty
        else {
            return complete(batches.isEmpty ? .received : .unanswered)
        }
        let request = OpenRequest(batches.count, complete)
        let deadline = NIODeadline.now() + Self.timeout
        for batch in batches {
            // A key of the right size seals everything. A server ends a connection for a message that is too large.
            guard let sealed = try? cipher.seal(batch), sealed.count <= maximumPayload else {
                request.receive(.unanswered)
                continue
            }
            lastNumber += 1
            open[lastNumber] = OpenBatch(request: request, deadline: deadline)
            order.append(lastNumber)
            connection.publish(
                sealed, count: sealed.count, to: "\(subjects).\(node)", reply: "\(answers).\(lastNumber)")
        }
        connection.flush()
    }

    func receive(at node: UInt16, _ handle: @escaping @Sendable ([NodeMessage]) -> Void) {
        receiver = (node, handle)
        loggingIn?.subscribe("\(subjects).\(node)", as: Self.subscriptionOfNode)
        loggingIn?.flush()
    }

    private func receive(_ message: NATSMessage) {
        guard message.subscription == "\(Self.subscriptionOfNode)" else { return receiveAnswer(message) }
        guard let content = cipher.open(message.payload), let messages = try? NodeMessageWire.decode(content) else {
            Counter(label: "aldaba_node_messages_malformed_total").increment()
            Self.malformed.log(to: logger)
            return
        }
        // Its sender takes it for lost already.
        guard message.reply.map({ arrivals.accepts($0) }) ?? true else {
            return Counter(label: "aldaba_node_messages_late_total").increment()
        }
        receiver?.handle(messages)
        guard let reply = message.reply, let connection else { return }
        connection.publish([], count: 0, to: reply)
        connection.flush()
    }

    private func receiveAnswer(_ message: NATSMessage) {
        guard let number = UInt64(message.subject.dropFirst(answers.utf8.count + 1)),
            let batch = open.removeValue(forKey: number)
        else { return }
        batch.request.receive(message.status == 503 ? .noNode : .received)
    }

    /// Ends the batches whose time is over.
    private func endLate(at now: NIODeadline) {
        while let number = order.first {
            if let batch = open[number] {
                guard batch.deadline <= now else { return }
                open[number] = nil
                batch.request.receive(.unanswered)
            }
            order.removeFirst()
        }
    }

    // MARK: The connection

    func connect() {
        guard !isStopped else { return }
        let server = address.servers[failures % address.servers.count]
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(.seconds(2))
            .channelOption(.socketOption(.so_keepalive), value: 1)
            // A piece of a file must not count as a server that does not read.
            .channelOption(.writeBufferWaterMark, value: .init(low: 1 << 20, high: 4 << 20))
            .channelInitializer { [client = NIOLoopBound(self, eventLoop: loop), address, name] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NATSConnection(address, host: server.host, name: name) { client.value.receive($0, $1) })
                }
            }
        bootstrap.connect(host: server.host, port: server.port).assumeIsolated().whenFailure { error in
            self.handleDisconnect(reason: NATSConnection.reason(of: error))
        }
        if failures == 0 { tick() }
    }

    private func receive(_ event: NATSConnection.Event, _ connection: NATSConnection) {
        switch event {
        case .loggingIn:
            loggingIn = connection
            connection.subscribe("\(answers).*", as: Self.subscriptionOfAnswers)
            if let receiver { connection.subscribe("\(subjects).\(receiver.node)", as: Self.subscriptionOfNode) }
        case .ready(let maximumPayload):
            guard !isStopped else { return connection.close() }
            self.maximumPayload = maximumPayload
            self.connection = connection
            isReady = true
            failures = 0
            Gauge(label: "aldaba_carrier_connected").record(1)
            logger.info("the carrier between the nodes is connected")
        case .message(let message): receive(message)
        case .ended(let reason): handleDisconnect(reason: reason ?? "the server closed the connection")
        }
    }

    /// The connection was lost, or could not be made: the next server is tried, after a second at most.
    private func handleDisconnect(reason: String) {
        (connection, loggingIn, isReady) = (nil, nil, false)
        Gauge(label: "aldaba_carrier_connected").record(0)
        let lost = open.values
        open = [:]
        order = CircularBuffer()
        for batch in lost { batch.request.receive(.unanswered) }
        guard !isStopped else { return }
        failures += 1
        Self.lost.log(Reason(description: reason), to: logger)
        loop.assumeIsolated().scheduleTask(in: .milliseconds(min(1000, 50 << Int64(min(failures, 5))))) {
            self.connect()
        }
    }

    /// Ends late batches ten times a second, and asks the server every five seconds whether it is there.
    private func tick() {
        guard !isStopped else { return }
        endLate(at: .now())
        ticks += 1
        if isReady, ticks % 50 == 0 { connection?.ping() }
        loop.assumeIsolated().scheduleTask(in: .milliseconds(100)) { self.tick() }
    }

    func stop() {
        isStopped = true
        loggingIn?.close()
    }

    /// The reason for which a connection ended.
    private struct Reason: Error, CustomStringConvertible {
        var description: String
    }

    private static let lost = RepeatedMessage("the carrier between the nodes is not connected", level: .warning)
    private static let malformed = RepeatedMessage(
        "a message was not used that was sealed with another key, or none", level: .warning)
}
