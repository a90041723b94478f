/// Why a bus cannot be used, in words.
package struct BusFailure: Error, Sendable, CustomStringConvertible {
    package var description: String
}
