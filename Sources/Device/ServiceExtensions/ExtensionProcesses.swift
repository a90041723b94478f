import AgentWire
import Machine

/// The processes of service extensions by the numbers that ``ExtensionQueue`` gives them, and their connections: a value.
package struct ExtensionProcesses<Connection: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        let app: BundleID
        let running: any RunningExtension
        var connection: Connection?
    }

    private var entries: [Int: Entry] = [:]
    private var numbers: [ObjectIdentifier: Int] = [:]

    /// None runs.
    package init() {}

    /// A process of an app's extension was started under this number.
    package mutating func started(_ number: Int, of app: BundleID, _ running: any RunningExtension) {
        entries[number] = Entry(app: app, running: running)
    }

    /// A process says that it is the extension of an app, on this connection.
    ///
    /// - Parameter process: Its process id, as the kernel tells it.
    /// - Returns: Its number; `nil` when it is no process that was started for that, or has said so before.
    package mutating func connect(_ connection: Connection, process: Int32, of app: BundleID) -> Int? {
        let found = entries.first { $0.value.app == app && $0.value.running.process == process }
        guard let (number, entry) = found, entry.connection == nil else { return nil }
        entries[number]?.connection = connection
        numbers[ObjectIdentifier(connection)] = number
        return number
    }

    /// Which process a connection is, and of which app; `nil` for other connections.
    package func process(of connection: Connection) -> (number: Int, app: BundleID)? {
        numbers[ObjectIdentifier(connection)].flatMap { number in entries[number].map { (number, $0.app) } }
    }

    /// A connection has ended.
    ///
    /// - Returns: The number of its process; `nil` when it was none's.
    package mutating func disconnect(_ connection: Connection) -> Int? {
        guard let number = numbers.removeValue(forKey: ObjectIdentifier(connection)) else { return nil }
        return number
    }

    /// A process has ended: its connection is nobody's from now on.
    package mutating func end(_ number: Int) {
        if let connection = entries[number]?.connection { numbers[ObjectIdentifier(connection)] = nil }
    }

    /// The connection of a process; `nil` before it has said hello.
    package func connection(of number: Int) -> Connection? { entries[number]?.connection }

    /// Kills a process.
    package func kill(_ number: Int) { entries[number]?.running.kill() }

    /// Kills all.
    package func killAll() { for entry in entries.values { entry.running.kill() } }

    /// Deletes what a process that has ended left behind, and forgets it.
    package mutating func clear(_ number: Int) {
        end(number)
        guard let entry = entries.removeValue(forKey: number) else { return }
        entry.running.clear()
    }
}
