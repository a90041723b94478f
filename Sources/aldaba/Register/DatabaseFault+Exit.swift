import AldabaConfiguration
import SQLiteStore

extension DatabaseFault {
    /// The exit code of a command that ends by the fault.
    package var exit: CommandExit {
        // What cannot be opened now may be when the disk has space again.
        if case .unusable = kind { .failed } else { .unusableData }
    }
}
