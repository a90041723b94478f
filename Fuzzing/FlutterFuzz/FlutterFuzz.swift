import Flutter
import Foundation
import FuzzDriver

/// Messages and frames of a cross-platform app: nothing traps, and what was read is written so that it reads the same.
@main
enum FlutterFuzz {
    static func main() {
        exit(
            FuzzDriver.run { data, count in
                let bytes = Array(UnsafeBufferPointer(start: data, count: count))
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
                return 0
            })
    }
}
