import AgentEngine
import GRDB
import Scheduling

/// In the agent's store a key is an integer.
extension RequestKey: DatabaseValueConvertible {}
