// Live Activities on the command line. The commands are `start NAME`, `start NAME channel ID`, `update ID key=value…`, `end ID`
// and `quit`; tokens, contents and states are printed as JSON, one object a line.
import ActivityKit

@main
struct DeliveryActivity {
    static func main() async {
        Task {
            for await token in Activity<DeliveryAttributes>.pushToStartTokenUpdates { Line.startToken(token).print() }
        }
        Task { for await activity in Activity<DeliveryAttributes>.activityUpdates { observe(activity) } }
        // The end of the input does not end an app that the agent started, which has none.
        for await line in commandLines() {
            let arguments = line.split(separator: " ").map(String.init)
            if arguments == ["quit"] { return }
            do {
                try await perform(arguments)
            } catch {
                Line(event: "error", message: "\(error)").print()
            }
        }
    }

    /// Prints what becomes of an activity, whoever started it.
    static func observe(_ activity: Activity<DeliveryAttributes>) {
        let id = activity.id
        Line(event: "activity", id: id, order: activity.attributes.orderNumber).print()
        Task { for await token in activity.pushTokenUpdates { Line.pushToken(token, of: id).print() } }
        Task {
            for await state in activity.contentStateUpdates { Line(event: "content", id: id, content: state).print() }
        }
        Task {
            for await state in activity.activityStateUpdates { Line(event: "state", id: id, state: state).print() }
        }
    }

    /// Performs a command.
    static func perform(_ arguments: [String]) async throws {
        switch (arguments.first, arguments.count) {
        case ("start", 2): try start(arguments[1], .token)
        case ("start", 4) where arguments[2] == "channel": try start(arguments[1], .channel(arguments[3]))
        case ("update", 3...):
            let activity = try find(arguments[1])
            var state = activity.contentState
            for change in arguments[2...] {
                let parts = change.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2, state.set(parts[0], to: parts[1]) else { throw CommandError.noValue(change) }
            }
            await activity.update(ActivityContent(state: state, staleDate: nil))
        case ("end", 2): try await find(arguments[1]).end(nil, dismissalPolicy: .default)
        case (nil, _): break
        default: throw CommandError.unknown(arguments.joined(separator: " "))
        }
    }

    private static func start(_ order: String, _ pushType: PushType) throws {
        _ = try Activity.request(
            attributes: DeliveryAttributes(orderNumber: order),
            content: ActivityContent(state: DeliveryAttributes.ContentState(), staleDate: nil), pushType: pushType)
    }

    private static func find(_ id: String) throws -> Activity<DeliveryAttributes> {
        guard let activity = Activity<DeliveryAttributes>.activities.first(where: { $0.id == id }) else {
            throw CommandError.noActivity(id)
        }
        return activity
    }

    /// The lines of standard input, read by a thread of their own.
    private static func commandLines() -> AsyncStream<String> {
        let (lines, input) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(1_000))
        Thread { while let line = readLine() { input.yield(line) } }.start()
        return lines
    }
}
