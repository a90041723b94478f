import AgentWire
import Foundation
import FuzzDriver

/// The socket between agent and apps: no bytes may trap the frames' decoder, and a message that is read is written and
/// read again as the same message.
@main
enum AgentWireFuzz {
    static func main() {
        exit(
            FuzzDriver.run { data, count in
                var decoder = AgentFrameDecoder()
                decoder.append(UnsafeBufferPointer(start: data, count: count))
                // Whole frames, and the input as the text of one.
                while let frame = try? decoder.next() { check(frame) }
                check(Array(UnsafeBufferPointer(start: data, count: count)))
                return 0
            })
    }
}

/// One text, as a message of either side.
private func check(_ body: [UInt8]) {
    if let message = try? AppMessage(frame: body), let frame = try? AgentFrame.encode(message) {
        precondition((try? AppMessage(frame: Array(frame.dropFirst(4)))) == message, "an app's message changed")
    }
    if let message = try? AgentMessage(frame: body), let frame = try? AgentFrame.encode(message) {
        precondition((try? AgentMessage(frame: Array(frame.dropFirst(4)))) == message, "an agent's message changed")
    }
}
