/// An app's connection as the engine knows it: a number, and the process at its other end.
package struct AppConnectionID: Hashable, Sendable {
    /// The number; no two connections of an agent have the same.
    package let number: Int
    /// The id of the process when it connected.
    package let process: Int32

    /// The connection of this number, made by a process.
    package init(number: Int, process: Int32) {
        self.number = number
        self.process = process
    }
}
