import AgentEngine
import GRDB

/// In the agent's store a key is an integer.
extension StoreKey: DatabaseValueConvertible {}
