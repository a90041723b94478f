import APNsProtocol
import NIOCore
import Networking
import PushCore
import PushServer

/// Requests about broadcast channels, which share the connections of device pushes.
extension ProviderConnection {
    /// Decides on a request and answers it.
    func handle(
        _ call: BroadcastCall, found: DevicePushGate.Found = DevicePushGate.Found(), round: Int = 0,
        on connection: HTTP2ServerConnection
    ) {
        readCertificate(of: connection)
        switch gate.decide(call, found: found, memory: &memory) {
        case .perform(let request, let app):
            connection.prove()
            perform(request, of: app, call, on: connection)
        case .refuse(let refusal, let requester):
            if requester != nil { connection.prove() }
            refuse(refusal, requester: requester, call, on: connection)
        case .refuseCredential(let refusal, let key):
            refuse(
                refusal, requester: requester(of: refusal, key, topic: call.path.app, on: connection), call,
                on: connection)
        case .lookUp(let lookUp):
            guard round < 4 else {
                // A directory that immediately evicts what it has just read would cause an endless loop.
                return refuse(APNsRejection(.internalServerError), requester: nil, call, on: connection)
            }
            wait(for: lookUp, after: found, on: connection) { [weak self] found in
                self?.handle(call, found: found, round: round + 1, on: connection)
                connection.flush()
            } orFail: { [weak self] in
                self?.refuse(APNsRejection(.serviceUnavailable), requester: nil, call, on: connection)
                connection.flush()
            }
        }
    }

    private func perform(
        _ request: BroadcastRequest, of app: RegisteredApp, _ call: BroadcastCall, on connection: HTTP2ServerConnection
    ) {
        guard let channels = gate.channels else {
            return refuse(APNsRejection(.featureNotEnabled), requester: nil, call, on: connection)
        }
        let environment = gate.environment
        let requester = DevicePushGate.Requester(team: app.team, topic: app.topic.rawValue, apnsID: nil)
        let bound = NIOLoopBound((self, connection, call), eventLoop: connection.eventLoop)
        connection.eventLoop.makeFutureWithTask {
            try await channels.perform(request, of: app, in: environment)
        }.whenComplete { result in
            let (provider, connection, call) = bound.value
            switch result {
            case .success(.success(let answer)): provider.succeed(answer, call, on: connection)
            case .success(.failure(let refusal)):
                provider.refuse(refusal, requester: requester, call, on: connection)
            case .failure:
                provider.refuse(APNsRejection(.serviceUnavailable), requester: nil, call, on: connection)
            }
            connection.flush()
        }
    }

    private func succeed(_ result: BroadcastAnswer, _ call: BroadcastCall, on connection: HTTP2ServerConnection) {
        answer.removeAll()
        answer.append(":status", bytes: Array(String(result.status).utf8))
        let id = call.requestID ?? result.message.map { ServerAPNsID.bytes(of: $0) } ?? StaticBytes.randomID()
        answer.append("apns-request-id", bytes: id)
        if let channel = result.channel { answer.append("apns-channel-id", bytes: channel.description.utf8) }
        if let message = result.message {
            answer.append("apns-unique-id", bytes: ServerAPNsID.bytes(of: message))
        }
        if !result.body.isEmpty { answer.append("content-type", bytes: StaticBytes.json) }
        respond(call.stream, body: result.body, on: connection)
        if result.message != nil { recordAcceptance(on: connection) }
    }

    private func refuse(
        _ refusal: APNsRejection, requester: DevicePushGate.Requester?, _ call: BroadcastCall,
        on connection: HTTP2ServerConnection
    ) {
        refuse(
            refusal, requester: requester, sentID: call.requestID, idField: "apns-request-id",
            allowed: call.path.methods.joined(separator: ", ").utf8, stream: call.stream,
            hasBody: call.method != "HEAD", on: connection)
    }
}
