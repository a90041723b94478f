/// Why a bus cannot be used, in words.
package struct BusFailure: Error, Sendable, CustomStringConvertible {
    /// What failed, in words.
    package var description: String
}
