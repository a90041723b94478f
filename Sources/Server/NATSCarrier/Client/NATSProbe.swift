import NIOCore
import NIOPosix

/// A first connection to the servers of an address, to see whether they can be used.
package enum NATSProbe {
    /// Logs in at each server.
    ///
    /// - Returns: The faults, each with its server; empty where all can be used.
    package static func faults(of address: NATSAddress) async -> [String] {
        var faults: [String] = []
        for server in address.servers {
            do { try await logIn(server, address) } catch {
                faults.append("the NATS server \(server.host):\(server.port) cannot be used: \(error)")
            }
        }
        return faults
    }

    /// An error: the connection ended before the login was accepted.
    private struct Ended: Error, CustomStringConvertible {
        var description: String
    }

    private static func logIn(_ server: NATSAddress.Server, _ address: NATSAddress) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let accepted = loop.makePromise(of: Void.self)
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(.seconds(2)).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let handler = NATSConnection(address, host: server.host, name: "aldaba check") { event, connection in
                    switch event {
                    case .loggingIn:
                        // A user who may not use the subjects of the servers is refused before the login counts.
                        for (number, subject) in ["aldaba.check", "_INBOX.check.*"].enumerated() {
                            connection.subscribe(subject, as: number + 1)
                        }
                        connection.publish([], count: 0, to: "aldaba.check")
                    case .ready: accepted.succeed()
                    case .message: break
                    case .ended(let reason):
                        accepted.fail(Ended(description: reason ?? "it closed the connection"))
                    }
                }
                try channel.pipeline.syncOperations.addHandler(handler)
            }
        }
        let channel: any Channel
        do { channel = try await bootstrap.connect(host: server.host, port: server.port).get() } catch {
            accepted.succeed()
            throw Ended(description: NATSConnection.reason(of: error))
        }
        defer { channel.close(promise: nil) }
        try await accepted.futureResult.get()
    }
}
