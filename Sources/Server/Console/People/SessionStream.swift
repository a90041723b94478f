import HTTPTypes
import Hummingbird
import NIOCore

/// Ends streams of events whose reader's session has ended, or whose role has changed.
enum SessionStream {
    /// The error by which a write ends the stream.
    private struct SessionEnded: Error {}

    /// A body that ends before the first write for which a session is not valid.
    ///
    /// Streams write a comment every few seconds, so that a silent one ends too. The browser asks for the stream again, and
    /// is refused.
    static func limited(
        _ body: ResponseBody, while isCurrent: @escaping @Sendable () async throws -> Bool
    ) -> ResponseBody {
        ResponseBody { writer in
            do { try await body.write(Writer(writer: writer, isCurrent: isCurrent)) } catch is SessionEnded {
                try await writer.finish(nil)
            }
        }
    }

    private struct Writer: ResponseBodyWriter {
        var writer: any ResponseBodyWriter
        let isCurrent: @Sendable () async throws -> Bool

        mutating func write(_ buffer: ByteBuffer) async throws {
            guard try await isCurrent() else { throw SessionEnded() }
            try await writer.write(buffer)
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws { try await writer.finish(trailingHeaders) }
    }
}
