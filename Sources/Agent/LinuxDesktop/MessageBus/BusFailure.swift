/// The reason why a bus cannot be used, for people.
package struct BusFailure: Error, Sendable, CustomStringConvertible {
    /// The failure, for people.
    package var description: String
}
