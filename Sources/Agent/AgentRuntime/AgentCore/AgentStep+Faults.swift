import AgentEngine
import CLinux
import Foundation

extension AgentStep {
    /// Takes the step by running `body`; throws what that throws.
    @inline(__always)
    package func take<Result>(_ body: () throws -> Result) rethrows -> Result {
        FaultPlan.pass(self, .before)
        defer { FaultPlan.pass(self, .after) }
        return try body()
    }
}

/// The step at which a debug build of the agent ends itself. The file named by `ALDABA_FAULT_FILE` contains
/// `step.side`, such as `storeArrival.after`. At that step the file is removed, and the process ends as by SIGKILL; the
/// next process runs normally.
enum FaultPlan {
    #if DEBUG
        private static let path = ProcessInfo.processInfo.environment["ALDABA_FAULT_FILE"]

        static func pass(_ step: AgentStep, _ side: AgentStep.Side) {
            guard let path, let place = try? String(contentsOfFile: path, encoding: .utf8),
                place == "\(step.rawValue).\(side.rawValue)"
            else { return }
            unlink(path)
            kill(getpid(), SIGKILL)
        }
    #else
        @inline(__always)
        static func pass(_ step: AgentStep, _ side: AgentStep.Side) {}
    #endif
}
