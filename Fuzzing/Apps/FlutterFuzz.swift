import Flutter
import Foundation

/// Messages and frames of a cross-platform app: nothing traps, and what was read is written so that it reads the same.
enum FlutterFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        if let value = try? StandardReader.value(of: bytes) {
            var writer = StandardWriter()
            writer.write(value)
            precondition((try? StandardReader.value(of: writer.bytes)) != nil, "what was written is not read")
        }
        _ = try? StandardMethodCall(message: bytes)
        _ = try? StandardMethodReply(message: bytes)
        var decoder = ChannelFrameDecoder()
        decoder.append(bytes)
        while let frame = try? decoder.next() {
            precondition((try? frame.bytes()) != nil, "what was read is not written")
        }
    }
}
