import AgentProtocol
import AppHost
import Foundation
import Glibc

/// How many requests a second an app can have scheduled: `CenterRate SOCKET APP SECRET COUNT`, 256 in flight over 64
/// identifiers. Prints the rate; every answer is awaited, and anything but `done` ends the run.
@main
enum CenterRate {
    private static let window = 256
    private static let identifiers = 64

    static func main() throws {
        guard CommandLine.arguments.count == 5, let count = Int64(CommandLine.arguments[4]) else {
            print("CenterRate SOCKET APP SECRET COUNT")
            exit(2)
        }
        let descriptor = try AgentSocket.connect(to: CommandLine.arguments[1])
        try send(
            [
                .hello(version: 1, app: BundleID(rawValue: CommandLine.arguments[2]), secret: CommandLine.arguments[3]),
                .ready,
            ], descriptor)
        let begun = ContinuousClock.now
        var sent: Int64 = 0
        var answered: Int64 = 0
        var decoder = AgentFrameDecoder()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while answered < count {
            var batch: [AppMessage] = []
            while sent < count, sent - answered < window {
                batch.append(.center(request: sent, .add(request(sent))))
                sent += 1
            }
            try send(batch, descriptor)
            guard let bytes = AgentSocket.read(descriptor, into: &buffer) else { fail("the agent has ended") }
            decoder.append(bytes)
            while let frame = try decoder.next() {
                switch try AgentMessage(frame: frame) {
                case .centerAnswered(_, .done): answered += 1
                case .centerAnswered(_, let answer): fail("\(answer)")
                case .refused(_, _, let message): fail(message)
                default: break
                }
            }
        }
        let seconds = begun.duration(to: .now) / .seconds(1)
        print("\(Int(Double(count) / seconds)) requests/s")
    }

    private static func request(_ number: Int64) -> NotificationRequest {
        var content = NotificationContent()
        content.title = "Request \(number)"
        content.body = "Of a run that only counts"
        return NotificationRequest(
            identifier: "request \(number % Int64(identifiers))", content: content,
            trigger: .timeInterval(seconds: 86_400, repeats: false))
    }

    private static func send(_ messages: [AppMessage], _ descriptor: Int32) throws {
        guard AgentSocket.write(descriptor, try messages.flatMap { try AgentFrame.encode($0) }) else {
            fail("the agent has ended")
        }
    }

    private static func fail(_ reason: String) -> Never {
        print("CenterRate: \(reason)")
        exit(1)
    }
}
