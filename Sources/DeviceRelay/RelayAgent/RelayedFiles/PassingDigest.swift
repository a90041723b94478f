import Crypto

/// The digest (SHA-256) of an app's stream, made of its pieces as they pass the agent. A value.
///
/// So an app need not make one of a stream that begins at 0: it depends on the toolchain alone, whose Foundation has
/// none.
package struct PassingDigest: Sendable {
    private var hash = SHA256()
    private var reached: Int64 = 0
    /// Whether every piece came where the last one had ended.
    private var isGapless = true

    /// Nothing has passed.
    package init() {}

    /// A piece passes. One at 0 begins the stream anew.
    package mutating func passed(_ bytes: [UInt8], at offset: Int64) {
        if offset == 0 { self = PassingDigest() }
        guard isGapless, offset == reached else {
            isGapless = false
            return
        }
        hash.update(data: bytes)
        reached = offset &+ Int64(bytes.count)
    }

    /// The digest of a stream of this size; `nil` where not all of it has passed.
    package func whole(of size: Int64) -> [UInt8]? {
        isGapless && reached == size ? Array(hash.finalize()) : nil
    }
}
