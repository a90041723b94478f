import NIOCore
import NIOPosix

/// The options of a device's socket: small buffers, since there are many and most are idle.
public enum MCSChannelOptions {
    /// Reads begin at 512 bytes and shrink to 64 for small traffic.
    public static func receiveAllocator(maximum: Int = 4096) -> AdaptiveRecvByteBufferAllocator {
        AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: maximum)
    }

    /// How many reads one turn of the event loop makes on a connection.
    public static let maximumReadsPerTurn: UInt = 2

    /// Above the high mark a connection counts as choked until it is below the low one; bytes.
    public static let writeBufferMarks = ChannelOptions.Types.WriteBufferWaterMark(low: 8 * 1024, high: 64 * 1024)
}
