import AgentProtocol
import Foundation

/// The socket between agent and apps: no bytes may trap the frames' decoder, and a message that is read is written and
/// read again as the same message. The text that a request keeps says what the request says.
enum AgentWireFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        var decoder = AgentFrameDecoder()
        decoder.append(input)
        // Whole frames, and the input as the text of one.
        while let frame = try? decoder.next() { check(frame) }
        check(Array(input))
    }
}

/// One text, as a message of either side.
private func check(_ body: [UInt8]) {
    switch try? AppMessage(frame: body) {
    case .center(_, .add(let request)), .manage(_, .notify(let request, _)): checkText(of: request)
    default: break
    }
    if let message = try? AppMessage(frame: body), let frame = try? message.frame() {
        precondition((try? AppMessage(frame: Array(frame.dropFirst(4)))) == message, "an app's message changed")
    }
    if let message = try? AgentMessage(frame: body), let frame = try? message.frame() {
        precondition((try? AgentMessage(frame: Array(frame.dropFirst(4)))) == message, "an agent's message changed")
    }
}

/// What a request keeps of its text, read alone.
private func checkText(of request: NotificationRequest) {
    guard let text = request.text else { return }
    precondition((try? NotificationRequest(json: Array(text.whole.utf8))) == request, "a request's text is another")
    let (content, trigger) = (Data(text.content.utf8), text.trigger.map { Data($0.utf8) })
    let decoder = JSONDecoder()
    precondition(
        (try? decoder.decode(NotificationContent.self, from: content)) == request.content, "its content is another")
    precondition(
        (try? trigger.flatMap { try decoder.decode(NotificationTrigger?.self, from: $0) }) == .some(request.trigger),
        "its trigger is another")
}
