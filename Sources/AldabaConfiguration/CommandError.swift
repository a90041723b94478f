/// How a command ends; the process's exit code.
package enum CommandExit: Int32, Sendable, CaseIterable {
    /// Everything that was asked for is done.
    case done = 0
    /// The command was tried and failed.
    case failed = 1
    /// The command line is wrong.
    case usage = 2
    /// A file, a setting or a value that was given is wrong.
    case invalidInput = 3
    /// The credential is missing or not accepted.
    case notAuthorized = 4
    /// A part of the work is done; the output lists which.
    case partlyDone = 5
    /// The server or the agent cannot be reached.
    case unreachable = 6
    /// The awaited event did not occur before the timeout.
    case timedOut = 7
    /// A database is missing, empty, damaged, or of a newer version: another try does not help.
    case unusableData = 8
}

/// Why a command did not do what it was asked: a sentence for people and an exit code for programs.
package struct CommandError: Error, Sendable, CustomStringConvertible {
    /// The exit code that the process ends with.
    package var exit: CommandExit
    /// The fault and the remedy, in a sentence; empty where the command has printed it.
    package var description: String

    /// Makes a failure; the text describes the fault and the remedy.
    package init(_ exit: CommandExit, _ description: String) {
        self.exit = exit
        self.description = description
    }
}
