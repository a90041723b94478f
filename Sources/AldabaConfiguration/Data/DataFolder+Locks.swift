import Platform

/// Why a lock of a data folder was not taken, and what to do.
package struct DataFolderRejection: Error, CustomStringConvertible {
    let path: String
    let refusal: FolderLock.Refusal

    /// The fault and the remedy.
    package var description: String { "\(fault); \(remedy)" }

    /// The fault, in words.
    var fault: String {
        switch refusal {
        case .inUse(let process):
            "the data folder is in use by \(process.map { "pid \($0)" } ?? "another process") (\(path))"
        case .unusable(let action, let reason): "cannot \(action) \(path): \(reason)"
        }
    }

    /// The remedy for who wants to take the lock.
    var remedy: String {
        switch refusal {
        case .inUse: "stop that one, or choose another folder with --data"
        case .unusable: "choose another folder with --data, or change its owner"
        }
    }
}

extension DataFolder {
    /// Takes one of the locks, at once or not at all; it is kept as long as what this returns.
    ///
    /// - Parameter path: Such as ``upLock``.
    package static func lock(_ path: String) throws(DataFolderRejection) -> FolderLock {
        do {
            return try FolderLock(path: path)
        } catch {
            throw DataFolderRejection(path: path, refusal: error)
        }
    }

    /// Whether a running program holds one of the locks, such as ``serveLock``. Changes nothing.
    package static func isLocked(_ path: String) -> Bool {
        if case .inUse = FolderLock.refusal(path: path) { true } else { false }
    }

    /// The process that holds one of the locks; `nil` where it is free. Changes nothing.
    package static func holder(ofLock path: String) -> Int32? {
        if case .inUse(let process) = FolderLock.refusal(path: path) { process } else { nil }
    }

    /// Checks whether any process holds one of the locks, and changes nothing.
    ///
    /// - Returns: The refusal that an attempt to take it would return; `nil` when it is free.
    static func refusal(ofLock path: String) -> DataFolderRejection? {
        FolderLock.refusal(path: path).map { DataFolderRejection(path: path, refusal: $0) }
    }
}
