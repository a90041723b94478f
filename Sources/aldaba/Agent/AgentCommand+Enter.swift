import AgentProtocol
import AldabaConfiguration
import ArgumentParser

extension AgentCommand.App {
    /// `aldaba agent app enter`.
    struct Enter: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move a running app to the foreground or the background.",
            discussion: """
                For trying what an app does on the way, where no screen tells where it stands: its delegate is called as
                Docs/lifecycle.md says. The state of an app whose manifest has the lifecycle focus follows its window instead.
                """)

        /// The state that an app enters.
        enum Place: String, ExpressibleByArgument, CaseIterable {
            case foreground, background

            var state: AppState { self == .foreground ? .active : .background }
        }

        @Argument(help: "The app's bundle id.") var app: BundleID
        @Argument(help: "foreground or background.") var place: Place
        @OptionGroup var agent: AgentOption

        func run() throws { _ = try agent.connect().ask(.enter(app: app, place.state)) }
    }
}
