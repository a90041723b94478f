import Foundation

/// Notes every notification that the app is handed, one name a line.
///
/// What is handed twice is noted twice; but a notification for foreground and background counts once, and an
/// answer to one that was handed before is no handover.
@MainActor
final class HandoverLog {
    private var handed: Set<String>
    private var awaitsForeground: Set<String> = []
    private let file: AppendedFile?

    init(path: String?) {
        handed = Set(AppendedFile.lines(of: path))
        file = path.flatMap { AppendedFile(path: $0) }
    }

    func handedInBackground(_ name: String) {
        awaitsForeground.insert(name)
        note(name)
    }

    func handedInForeground(_ name: String) {
        if awaitsForeground.remove(name) == nil { note(name) }
    }

    func answered(_ name: String) {
        if !handed.contains(name) { note(name) }
    }

    private func note(_ name: String) {
        handed.insert(name)
        file?.append(line: Data(name.utf8))
    }
}
