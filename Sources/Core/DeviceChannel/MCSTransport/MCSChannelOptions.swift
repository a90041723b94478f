import NIOCore
import NIOPosix

/// The options of a device's socket: small buffers, since there are many connections and most are idle.
package enum MCSChannelOptions {
    /// Creates an allocator whose buffers begin at 512 bytes and shrink to 64 for small traffic.
    package static func receiveAllocator(maximum: Int = 4096) -> AdaptiveRecvByteBufferAllocator {
        AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: maximum)
    }

    /// The number of reads on a connection in one tick of the event loop.
    package static let maximumReadsPerTurn: UInt = 2

    /// The marks in bytes between which writability changes: a connection above the high mark is choked until it is
    /// below the low one.
    package static let writeBufferMarks = ChannelOptions.Types.WriteBufferWaterMark(low: 8 * 1024, high: 64 * 1024)
}
