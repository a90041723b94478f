import APNsProtocol
import NIOCore
import NIOTLS
import PushCore
import PushServer

/// Reads the tokens of an app's ended registrations, page by page.
struct FeedbackSource: Sendable {
    let store: any FeedbackStore
    let sealer: DeviceTokenSealer
    let environment: PushEnvironment
    /// The cell number in this server's device tokens.
    let cell: UInt16

    /// The number of ends that are read at once.
    static let pageSize = 500

    /// A page of tuples as bytes, and the number through which its ends are deleted once it is written.
    struct Page: Sendable {
        var bytes: [UInt8] = []
        var count = 0
        var through: Int64 = 0
    }

    /// The next page; `nil` at the end.
    func page(of app: RegisteredApp) async throws -> Page? {
        let ends = try await store.endedRegistrations(app: app.id, environment: environment, limit: Self.pageSize)
        guard !ends.isEmpty else { return nil }
        var page = Page()
        for end in ends {
            let subject = TokenSubject(
                cell: cell, device: end.device, app: app.id, environment: environment, generation: end.generation)
            // A provider may have received the token while an earlier key sealed.
            for token in try sealer.everyToken(of: subject) {
                let seconds = UInt32(clamping: end.endedAt.rawValue / 1000)
                page.bytes += LegacyFeedback(seconds: seconds, token: token.bytes).bytes
                page.count += 1
            }
            page.through = end.number
        }
        return page
    }

    /// Deletes the ends of a page that was written.
    func forget(_ page: Page, of app: RegisteredApp) async throws {
        try await store.forgetEnds(app: app.id, environment: environment, through: page.through)
    }
}

/// A provider's connection to the feedback service: it writes the ends and closes. Confined to its event loop.
final class FeedbackConnection: ChannelInboundHandler, CertifiedHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let check: CertificateCheck
    private let source: FeedbackSource
    private let metrics: LegacyMetrics

    init(check: CertificateCheck, source: FeedbackSource, metrics: LegacyMetrics) {
        self.check = check
        self.source = source
        self.metrics = metrics
    }

    func begin(_ certificate: [UInt8], app: RegisteredApp, context: ChannelHandlerContext) {
        let channel = context.channel
        let (source, metrics, report) = (source, metrics, check.report)
        context.eventLoop.makeFutureWithTask {
            while let page = try await source.page(of: app) {
                // A page that could not be written stays for the next connection.
                try await channel.writeAndFlush(ByteBuffer(bytes: page.bytes))
                try await source.forget(page, of: app)
                metrics.feedback.increment(by: page.count)
            }
        }.whenComplete { result in
            if case .failure(let error) = result, channel.isActive {
                report.say(
                    "the feedback service could not tell everything: \(error)", from: channel.remoteAddress)
            }
            channel.close(promise: nil)
        }
    }

    /// Ignores the provider's bytes, which have no meaning in this protocol.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case TLSUserEvent.handshakeCompleted: check.judge(context, for: self)
        case ChannelEvent.inputClosed, is IdleStateHandler.IdleStateEvent: context.close(promise: nil)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
