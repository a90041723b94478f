import AgentProtocol
import ArgumentParser

/// On the command line a bundle id is its text.
extension BundleID: ExpressibleByArgument {
    /// Takes any text; whether an app of that name is installed is asked of the agent.
    public init?(argument: String) { self.init(rawValue: argument) }
}
