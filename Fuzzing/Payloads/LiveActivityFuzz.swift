import AgentEngine
import AgentProtocol
import Foundation
import PushCore

/// The payload of a push to Live Activities: no payload may trap its reading, the engine that it goes to, or the texts in
/// which it is shown. The input's first line is such a text, the rest the payload.
enum LiveActivityFuzz: FuzzTest {
    private static let app: BundleID = "com.example.todo"
    private static let id = String(repeating: "a", count: 32)
    private static let now = Timestamp(seconds: 1_800_000_000)

    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let line = input.prefix { $0 != UInt8(ascii: "\n") }
        let text = String(decoding: line, as: UTF8.self)
        // Whatever is wrong with a payload: most are.
        guard let push = try? LiveActivityPush(payload: Array(input.dropFirst(line.count + 1))) else { return }
        precondition(push.event != .update || push.content != nil, "an update without content")
        for target in [LiveActivityTarget.start, .activity(id), .channel("c")] {
            var engine = LiveActivitiesEngine()
            let activity = LiveActivity(
                id: id, attributesType: "A", attributes: "{}", content: LiveActivityContent(state: "{}"))
            for event in [
                LiveActivitiesEngine.Event.start(activity, .channel("c"), app: app),
                .push(push, target, app: app, id: String(repeating: "b", count: 32)), .timePassed(now),
            ] {
                // A refusal is an outcome as any other.
                for directive in (try? engine.handle(event, now: now)) ?? [] { check(directive, text) }
            }
            precondition(engine.activities(of: app).count <= LiveActivitiesEngine.limit, "too many activities")
        }
    }

    private static func check(_ directive: LiveActivitiesEngine.Directive, _ text: String) {
        switch directive {
        case .store(let record):
            guard let stored = try? JSONEncoder().encode(record) else {
                preconditionFailure("an activity cannot be stored")
            }
            precondition(
                (try? JSONDecoder().decode(LiveActivityRecord.self, from: stored)) == record, "an activity changed")
        case .show(let record, let alert):
            for texts in [nil, LiveActivityTexts(title: text, body: text, progress: text)] {
                let content = LiveActivityNotification(record).request(texts, appName: "A", alert: alert).content
                precondition((0...1).contains(content.relevanceScore), "a relevance out of its range")
                precondition((0...1).contains(content.progress ?? 0), "a progress out of its range")
            }
        case .wait(let moment): precondition(moment >= now, "a moment of the past")
        case .delete, .hide, .follow, .launch: break
        }
    }
}
