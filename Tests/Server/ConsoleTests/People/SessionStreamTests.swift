import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@testable import Console

/// What was written to a response.
private final class WrittenBody: Sendable {
    private let state = Mutex((text: "", isFinished: false))
    var text: String { state.withLock { $0.text } }
    var isFinished: Bool { state.withLock { $0.isFinished } }

    func write(_ buffer: ByteBuffer) { state.withLock { $0.text += String(buffer: buffer) } }
    func finish() { state.withLock { $0.isFinished = true } }
}

private struct BodyRecorder: ResponseBodyWriter {
    let body: WrittenBody

    mutating func write(_ buffer: ByteBuffer) async throws { body.write(buffer) }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { body.finish() }
}

@Suite struct SessionStreamTests {
    private let written = WrittenBody()

    @Test func `a stream ends before what is written after its session`() async throws {
        let isCurrent = Mutex(true)
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "one"))
            isCurrent.withLock { $0 = false }
            try await writer.write(ByteBuffer(string: "two"))
        }
        let limited = SessionStream.limited(body) { isCurrent.withLock { $0 } }
        try await limited.write(BodyRecorder(body: written))
        #expect(written.text == "one" && written.isFinished)
    }

    @Test func `the stream of a session that goes on is whole`() async throws {
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "one"))
            try await writer.finish(nil)
        }
        try await SessionStream.limited(body) { true }.write(BodyRecorder(body: written))
        #expect(written.text == "one" && written.isFinished)
    }

    @Test func `an error of the session's store is not taken for an end`() async throws {
        struct StoreError: Error {}
        let body = ResponseBody { try await $0.write(ByteBuffer(string: "one")) }
        await #expect(throws: StoreError.self) {
            try await SessionStream.limited(body) { throw StoreError() }.write(BodyRecorder(body: written))
        }
        #expect(written.text.isEmpty && !written.isFinished)
    }
}
