import AgentEngine
import AgentProtocol
import Platform

/// The processes of service extensions by the numbers that ``ExtensionQueue`` gives them, and their connections: a
/// value.
package struct ExtensionProcesses<Connection: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        let app: BundleID
        let running: any RunningExtension
        var connection: Connection?
    }

    private var entries: [Int: Entry] = [:]
    private var numbers: [ObjectIdentifier: Int] = [:]

    /// Creates an empty collection.
    package init() {}

    /// A process of an app's extension was started under this number.
    package mutating func started(_ number: Int, of app: BundleID, _ running: any RunningExtension) {
        entries[number] = Entry(app: app, running: running)
    }

    /// A process identifies itself as the extension of an app, on this connection.
    ///
    /// - Parameter process: The process id, as the kernel reports it.
    /// - Returns: The number of the process; `nil` when it was not started for this app, or is connected already.
    package mutating func connect(_ connection: Connection, process: Int32, of app: BundleID) -> Int? {
        let found = entries.first { $0.value.app == app && $0.value.running.process == process }
        guard let (number, entry) = found, entry.connection == nil else { return nil }
        entries[number]?.connection = connection
        numbers[ObjectIdentifier(connection)] = number
        return number
    }

    /// The process of a connection, and its app; `nil` for other connections.
    package func process(of connection: Connection) -> (number: Int, app: BundleID)? {
        numbers[ObjectIdentifier(connection)].flatMap { number in entries[number].map { (number, $0.app) } }
    }

    /// A connection has ended.
    ///
    /// - Returns: The number of its process; `nil` for other connections.
    package mutating func disconnect(_ connection: Connection) -> Int? {
        guard let number = numbers.removeValue(forKey: ObjectIdentifier(connection)) else { return nil }
        return number
    }

    /// A process has ended: its connection belongs to no process from now on.
    package mutating func end(_ number: Int) {
        if let connection = entries[number]?.connection { numbers[ObjectIdentifier(connection)] = nil }
    }

    /// The connection of a process; `nil` before its hello.
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
