import GRDB
import LocalSchedule

/// In the agent's store a key is an integer.
extension RequestKey: DatabaseValueConvertible {}
