import AldabaTestSupport
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A host on loopback that answers as a test says: with right answers, wrong ones, none, or without an end.
final class HostileHost: Sendable {
    /// What it says to one request.
    enum Answer: Sendable {
        /// These bytes, then the end of the connection.
        case raw([UInt8])
        /// These bytes, and nothing more: the connection stays open.
        case stalls([UInt8])
        /// These bytes, then others without end.
        case endless([UInt8])

        /// A file with its headers.
        static func file(_ body: [UInt8], status: Int = 200, _ headers: [String] = []) -> Answer {
            .raw(head(status, ["content-length: \(body.count)"] + headers) + body)
        }

        static func redirect(_ location: String, status: Int = 302) -> Answer {
            .raw(head(status, ["location: \(location)", "content-length: 0"]))
        }

        static func head(_ status: Int, _ headers: [String]) -> [UInt8] {
            Array(
                (["HTTP/1.1 \(status) Said", "connection: close"] + headers + ["", ""]).joined(separator: "\r\n").utf8)
        }
    }

    /// What it was asked, as it came.
    let requests = Inbox<String>()
    let port: Int
    private let channel: any Channel
    private let counts = Mutex([String: Int]())

    /// - Parameter answer: What it says to the request of a path with these headers.
    init(tls: NIOSSLContext? = nil, answer: @escaping @Sendable (_ path: String, _ text: String) -> Answer) async throws
    {
        let requests = requests
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handlers = channel.pipeline.syncOperations
                    if let tls { try handlers.addHandler(NIOSSLServerHandler(context: tls)) }
                    try handlers.addHandler(Responder(answer: answer, requests: requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    func url(_ path: String, host: String = "pictures.example", isSecure: Bool = false) -> String {
        "\(isSecure ? "https" : "http")://\(host):\(port)\(path)"
    }

    func close() async {
        try? await channel.close()
        requests.finish()
    }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let answer: @Sendable (String, String) -> Answer
        private let requests: Inbox<String>
        private var text = ""
        private var isEndless = false

        init(answer: @escaping @Sendable (String, String) -> Answer, requests: Inbox<String>) {
            self.answer = answer
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            guard text.contains("\r\n\r\n") else { return }
            requests.put(text)
            let path = text.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            switch answer(path, text) {
            case .raw(let bytes):
                write(bytes, context)
                context.close(promise: nil)
            case .stalls(let bytes): write(bytes, context)
            case .endless(let bytes):
                isEndless = true
                write(bytes, context)
                writeMore(context)
            }
        }

        func channelWritabilityChanged(context: ChannelHandlerContext) { writeMore(context) }

        private func writeMore(_ context: ChannelHandlerContext) {
            guard isEndless else { return }
            while context.channel.isActive, context.channel.isWritable {
                write([UInt8](repeating: 0, count: 1 << 16), context)
            }
        }

        private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
