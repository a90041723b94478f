import PushServer

/// Bodies with the coding `gzip`: none may trap or have more bytes than are taken.
enum GzipFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let limit = 1 << 16
        guard let decoded = try? GzipBody.decoded(Array(input), limit: limit) else { return }
        precondition(decoded.count <= limit, "a body has more bytes than are taken")
    }
}
