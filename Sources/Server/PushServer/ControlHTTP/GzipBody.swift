import CZlib

/// A body with the coding `gzip` (RFC 9110, section 8.4.1.3): one member (RFC 1952) of DEFLATE data, decoded by zlib.
package enum GzipBody {
    /// A reason why a body cannot be decoded.
    package enum Fault: Error, Hashable, Sendable {
        /// The body is malformed or ends early.
        case malformed
        /// The decoded body would have more bytes than are taken.
        case tooLarge
    }

    /// zlib's number for the largest window, which also says that the data begin with a header of gzip.
    private static let windowOfGzip: Int32 = 15 + 16

    /// Decodes a body.
    ///
    /// - Parameter limit: The highest number of decoded bytes; beyond it decoding ends.
    package static func decoded(_ bytes: [UInt8], limit: Int) throws(Fault) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(&stream, windowOfGzip, ZLIB_VERSION, size) == Z_OK else { throw .malformed }
        defer { inflateEnd(&stream) }
        // zlib reads through a pointer to bytes that it does not change.
        var input = bytes
        var output: [UInt8] = []
        let status = input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(clamping: input.count)
            return inflateAll(&stream, into: &output, limit: limit)
        }
        guard output.count <= limit else { throw .tooLarge }
        guard status == Z_STREAM_END, stream.avail_in == 0 else { throw .malformed }
        return output
    }

    /// Decodes the input of a stream until it ends, is malformed, or has given more than a limit of bytes.
    ///
    /// - Returns: zlib's last status.
    private static func inflateAll(_ stream: inout z_stream, into output: inout [UInt8], limit: Int) -> Int32 {
        var status = Z_OK
        while status == Z_OK, output.count <= limit {
            let chunk = [UInt8](unsafeUninitializedCapacity: 16_384) { chunk, count in
                stream.next_out = chunk.baseAddress
                stream.avail_out = UInt32(chunk.count)
                status = inflate(&stream, Z_NO_FLUSH)
                count = chunk.count - Int(stream.avail_out)
            }
            output += chunk
        }
        return status
    }
}
