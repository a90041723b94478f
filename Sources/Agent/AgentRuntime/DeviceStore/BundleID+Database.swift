import AgentEngine
import AgentProtocol
import GRDB

/// In the agent's store a bundle id is a text.
extension BundleID: DatabaseValueConvertible {}
