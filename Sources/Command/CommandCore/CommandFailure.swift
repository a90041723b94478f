/// How a command ends; the process's exit code.
public enum CommandExit: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case invalidInput = 3
    case notAuthorized = 4
    case partlyDone = 5
    case unreachable = 6
    case timedOut = 7
}

/// Why a command did not do what it was asked: a sentence for people and an exit code for programs.
public struct CommandFailure: Error, Sendable, CustomStringConvertible {
    public var exit: CommandExit
    public var description: String

    /// Makes a failure; the text says what is wrong and what to do.
    public init(_ exit: CommandExit, _ description: String) {
        self.exit = exit
        self.description = description
    }
}
