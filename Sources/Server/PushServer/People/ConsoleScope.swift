import PushCore

/// The team for which the console calls routes without a connection.
package enum ConsoleScope {
    /// The team of the person who asks; `nil` for every team, and outside of the console.
    @TaskLocal package static var current: TeamID?
}
