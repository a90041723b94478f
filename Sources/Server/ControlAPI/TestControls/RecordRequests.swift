import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes
import Networking
import PushCore
import PushServer
import Synchronization

/// Remembers the requests of providers for tests, and applies the faults that tests have set.
struct RecordRequests: RouterMiddleware {
    let controls: TestControls
    /// Finds the team of a credential.
    let authentication: any ProviderAuthentication
    /// The project that a team's service accounts were made for.
    let project: @Sendable (TeamID) -> String
    let clock: @Sendable () -> Timestamp
    private let connections = ConnectionNumbers()

    init(
        _ controls: TestControls, authentication: any ProviderAuthentication,
        project: @escaping @Sendable (TeamID) -> String,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.controls = controls
        self.authentication = authentication
        self.project = project
        self.clock = clock
    }

    /// A request that was cut off by a fault; it gets no answer.
    private struct CutOff: Error {}

    func handle(
        _ request: Request, context: ControlContext, next: (Request, ControlContext) async throws -> Response
    ) async throws -> Response {
        guard var provider = ProviderRequest(request.method, path: request.uri.path, query: request.uri.query) else {
            return try await next(request, context)
        }
        var exchange = Exchange(provider: provider)
        let (request, body) = await Self.withBody(request)
        let recorded = provider.recorded(body)
        await findSender(request, &provider)
        exchange.provider = provider
        let (number, fault) = controls.receive(
            ReceivedRequest(
                at: clock(),
                content: ReceivedRequest.Content(
                    interface: provider.interface,
                    connection: connections.number(of: context.channel) { controls.nextConnection() },
                    method: request.method.rawValue,
                    path: ProviderRequest.recorded(path: request.uri.path, query: request.uri.query),
                    fields: request.headers.map { ReceivedRequest.Field($0.name.canonicalName, $0.value) },
                    body: recorded), parties: provider.parties))
        if let fault, fault.delay > 0 { try await Task.sleep(for: .milliseconds(fault.delay)) }
        exchange.number = number
        if let fault, let answer = try await answer(fault, to: exchange, on: context.channel) {
            return try await record(answer, of: exchange)
        }
        let response = try await ReceivedRequests.$current.withValue(number) { try await next(request, context) }
        noteSender(number)
        guard let fault, fault.action == .cut || fault.action == .silence else {
            return try await record(response, of: exchange)
        }
        return try await lose(by: fault.action, on: context.channel)
    }

    /// A request that is to be answered.
    private struct Exchange {
        var number = 0
        var provider: ProviderRequest
        let begun = ContinuousClock.now
    }

    /// Reads the whole body, so that it can be remembered and read again.
    private static func withBody(_ request: Request) async -> (Request, [UInt8]) {
        var copy = request
        do {
            let body = try await request.body.collect(upTo: 1 << 20)
            copy.body = RequestBody(buffer: body)
            let bytes = Array(buffer: body)
            let isPacked = request.headers[.contentEncoding]?.lowercased().hasSuffix("gzip") == true
            // What cannot be unpacked is shown as it came; the route says why.
            let plain = isPacked ? try? GzipBody.decoded(bytes, limit: ReceivedRequest.Content.bodyLimit) : nil
            return (copy, plain ?? bytes)
        } catch {
            // The route finds the same fault, and says it.
            copy.body = RequestBody(asyncSequence: FailedBody(error: error))
            return (copy, [])
        }
    }

    /// Finds the team that the request has a credential of, so that faults can be for it.
    private func findSender(_ request: Request, _ provider: inout ProviderRequest) async {
        guard [.fcm, .topics, .groups].contains(provider.interface),
            let authorization = request.headers[.authorization],
            // The route reads the register again, and says when it cannot.
            case .team(let team)? = try? await authentication.team(authorization: authorization)
        else { return }
        provider.parties.team = team.rawValue
        provider.parties.namespace = provider.parties.namespace ?? project(team)
    }

    /// Notes the team that the request has shown a credential of, where that was not found before.
    private func noteSender(_ number: Int) {
        let team: TeamID
        switch RequestScope.current?.caller {
        case .team(let known), .clients(of: let known): team = known
        default: return
        }
        controls.received.update(number) { request in
            request.parties.team = team.rawValue
            request.parties.namespace = request.parties.namespace ?? project(team)
        }
    }

    /// Notes an answer.
    private func record(_ response: Response, of exchange: Exchange) async throws -> Response {
        var response = response
        let collected = CollectedBody()
        try await response.body.write(collected)
        let body = collected.bytes
        response.body = ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        // An answer that is no JSON has no name and no reason.
        let json = try? JSONValue(object: body)
        if let name = json?["name"]?.text { noteBroadcast(name, exchange.number) }
        controls.received.answered(
            exchange.number,
            ReceivedRequest.Answer(
                status: response.status.code, reason: response.status.code < 300 ? nil : FaultReply.reason(in: json),
                fields: response.headers.map { ReceivedRequest.Field($0.name.canonicalName, $0.value) },
                body: exchange.provider.recordedAnswer(body), duration: exchange.begun.duration(to: .now)))
        return response
    }

    /// Adds what an answer names and no device has got yet: a send to a topic.
    private func noteBroadcast(_ name: String, _ number: Int) {
        guard let last = name.split(separator: "/").last, let id = NotificationID(text: String(last)) else { return }
        controls.received.addBroadcast(id, to: number)
    }

    // MARK: Faults

    /// The answer that a fault gives; `nil` where the request is to be processed.
    private func answer(
        _ fault: Fault, to exchange: Exchange, on channel: any Channel
    ) async throws -> Response? {
        switch fault.action {
        case .answer: fault.reply.map { FaultReply($0, exchange.provider.interface).response }
        case .cut where fault.isUnprocessed, .silence where fault.isUnprocessed:
            try await lose(by: fault.action, on: channel)
        case .cut, .silence, .delay, .goAway, .refuseStream, .oneStream, .expiredCertificate: nil
        }
    }

    /// Has an answer not arrive: the connection is closed, at once or after a silence.
    private func lose(by action: Fault.Action, on channel: any Channel) async throws -> Response {
        if action == .silence { await Self.waitForEnd(of: channel) }
        channel.close(promise: nil)
        throw CutOff()
    }

    /// Waits until the client gives up, or for the time after which an idle connection is closed.
    private static func waitForEnd(of channel: any Channel) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await channel.closeFuture.get() }
            group.addTask { try? await Task.sleep(for: .seconds(60)) }
            await group.next()
            channel.close(promise: nil)
            group.cancelAll()
        }
    }
}

/// The numbers of connections with requests of providers. Thread-safe.
private final class ConnectionNumbers: Sendable {
    private let numbers = Mutex<[ObjectIdentifier: Int]>([:])

    func number(of channel: any Channel, next: () -> Int) -> Int {
        let key = ObjectIdentifier(channel)
        let (number, isNew) = numbers.withLock { numbers in
            if let known = numbers[key] { return (known, false) }
            let number = next()
            numbers[key] = number
            return (number, true)
        }
        // A closed channel calls this at once.
        if isNew { channel.closeFuture.whenComplete { [self] _ in numbers.withLock { $0[key] = nil } } }
        return number
    }
}

/// A body that could not be read.
private struct FailedBody: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let error: any Error

    func makeAsyncIterator() -> FailedBody { self }

    mutating func next() async throws -> ByteBuffer? { throw error }
}

/// Collects the bytes of a response.
final class CollectedBody: ResponseBodyWriter, Sendable {
    private let stored = Mutex(ByteBuffer())

    var bytes: [UInt8] { stored.withLock { Array(buffer: $0) } }

    func write(_ buffer: ByteBuffer) async throws { stored.withLock { _ = $0.writeImmutableBuffer(buffer) } }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
