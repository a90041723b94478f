import NIOCore
import NIOPosix
import Networking
import PushCore
import Synchronization

/// The server of an ``APNsDouble``. Everything happens on one event loop, in the order of the calls.
final class ServerInMemory: PoolTransport {
    private struct PlannedFault {
        var fault: APNsDouble.Fault
        var target: String?
        var times: Int
    }

    private struct State {
        var faults: [PlannedFault] = []
        var requests: [APNsDouble.Request] = []
        var connections = 0
    }

    private let state = Mutex(State())
    private let eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    private static let streamLimit = 1000

    var requests: [APNsDouble.Request] { state.withLock { $0.requests } }

    func add(_ fault: APNsDouble.Fault, for target: String?, times: Int) {
        state.withLock { $0.faults.append(PlannedFault(fault: fault, target: target, times: times)) }
    }

    func dial(onEvent: @escaping @Sendable (HTTP2ClientEvent) -> Void) -> any PoolConnection {
        let number = state.withLock { state in
            state.connections += 1
            return state.connections
        }
        eventLoop.execute { onEvent(.settings(streamLimit: Self.streamLimit)) }
        return ConnectionInMemory(number: number, server: self, eventLoop: eventLoop, onEvent: onEvent)
    }

    /// Records a request and takes the fault that is for it.
    fileprivate func receive(_ headers: HeaderBlock, _ body: [UInt8], on connection: Int) -> APNsDouble.Fault? {
        var fields: [String: String] = [:]
        for index in 0..<headers.count {
            fields[String(decoding: headers.name(index), as: UTF8.self)] = headers.text(index)
        }
        let path = fields[":path"] ?? ""
        let target = fields["apns-channel-id"] ?? path.split(separator: "/").last.map(String.init) ?? ""
        let request = APNsDouble.Request(target: target, connection: connection, fields: fields, payload: body)
        return state.withLock { state in
            state.requests.append(request)
            guard let place = state.faults.firstIndex(where: { $0.target == nil || $0.target == target }) else {
                return nil
            }
            state.faults[place].times -= 1
            defer { if state.faults[place].times <= 0 { state.faults.remove(at: place) } }
            return state.faults[place].fault
        }
    }
}

/// A connection of a ``ServerInMemory``.
private final class ConnectionInMemory: PoolConnection {
    let number: Int
    let server: ServerInMemory
    let eventLoop: any EventLoop
    let onEvent: @Sendable (HTTP2ClientEvent) -> Void
    /// Whether the connection has ended; nothing that comes later has an effect.
    private let isClosed = Mutex(false)

    init(
        number: Int, server: ServerInMemory, eventLoop: any EventLoop,
        onEvent: @escaping @Sendable (HTTP2ClientEvent) -> Void
    ) {
        self.number = number
        self.server = server
        self.eventLoop = eventLoop
        self.onEvent = onEvent
    }

    func send(request: Int, headers: HeaderBlock, body: [UInt8]) {
        eventLoop.execute { [self] in
            guard !isClosed.withLock({ $0 }) else {
                return onEvent(.ended(request: request, .failure(.notProcessed)))
            }
            perform(server.receive(headers, body, on: number), request)
        }
    }

    private func perform(_ fault: APNsDouble.Fault?, _ request: Int) {
        switch fault {
        case nil: answer(request, status: 200)
        case .answer(let status, let reason): answer(request, status: status, body: #"{"reason":"\#(reason)"}"#)
        case .tokenDead(let since):
            let milliseconds = Int64(since.timeIntervalSince1970 * 1000)
            answer(request, status: 410, body: #"{"reason":"Unregistered","timestamp":\#(milliseconds)}"#)
        case .goAway:
            onEvent(.goAway(lastStream: 0, code: 0, debugData: Array(#"{"reason":"Shutdown"}"#.utf8)))
            onEvent(.ended(request: request, .failure(.notProcessed)))
        case .refuseStream: onEvent(.ended(request: request, .failure(.notProcessed)))
        case .oneStream:
            onEvent(.settings(streamLimit: 1))
            answer(request, status: 200)
        case .cut:
            isClosed.withLock { $0 = true }
            onEvent(.closed(reason: "the connection was cut", unprocessed: []))
        case .silence: break
        case .delay(let time):
            eventLoop.scheduleTask(in: TimeAmount(time)) { [self] in
                if !isClosed.withLock({ $0 }) { answer(request, status: 200) }
            }
        }
    }

    private func answer(_ request: Int, status: Int, body: String = "") {
        var headers = HeaderBlock()
        headers.append(":status", String(status))
        let response = HTTP2Response(status: status, headers: headers, body: Array(body.utf8))
        onEvent(.ended(request: request, .success(response)))
    }

    func abandon(request: Int) {}

    func ping() { eventLoop.execute { [self] in if !isClosed.withLock({ $0 }) { onEvent(.pingAcknowledged) } } }

    func settle(_ done: @escaping @Sendable () -> Void) { eventLoop.execute(done) }

    func close() { isClosed.withLock { $0 = true } }
}
