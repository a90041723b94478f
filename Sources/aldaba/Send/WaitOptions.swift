import AldabaConfiguration
import ArgumentParser
import PushCore

/// The options for waiting until a notification has come some distance.
struct WaitOptions: ParsableArguments {
    @Option(
        name: .customLong("wait"),
        help: "Wait until the timeline has this state or a later one: accepted, acked, presented or opened.")
    var state: AwaitedState?
    @Option(help: ArgumentHelp("With --wait: how long to wait (default: 30).", valueName: "seconds")) var timeout: Int?

    /// The time to wait.
    var time: Duration { .seconds(timeout ?? 30) }

    /// Whether timelines are read: the answer tells of the acceptance alone.
    var awaitsTimeline: Bool { state != nil && state != .accepted }

    /// The fault of options that do not go together.
    func fault(isSent: Bool, isForApple: Bool, hasOtherServer: Bool, hasControl: Bool) -> String? {
        guard let state else { return timeout == nil ? nil : "--timeout needs --wait" }
        if let timeout, !(1...86_400).contains(timeout) { return "--timeout is 1 to 86400 seconds" }
        if !isSent { return "--wait needs a notification that is sent: leave --dry-run and --curl out" }
        guard state != .accepted else { return nil }
        if isForApple { return "--wait \(state.rawValue) needs Aldaba's server: Apple tells only that it accepted" }
        if hasOtherServer, !hasControl {
            return "--wait \(state.rawValue) with --server needs --control, where timelines are read"
        }
        return nil
    }
}

extension AwaitedState: ExpressibleByArgument {}
