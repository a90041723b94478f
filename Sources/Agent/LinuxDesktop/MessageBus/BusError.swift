/// The reason why a bus cannot be used, for people.
package struct BusError: Error, Sendable, CustomStringConvertible {
    /// The failure, for people.
    package var description: String
}
