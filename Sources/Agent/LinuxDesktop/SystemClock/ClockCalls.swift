import CLinux
import Foundation
import Logging
import Networking
import Platform
import PushCore

/// The system calls of the clock's threads; a test, which may not set this machine's clock, replaces them.
struct ClockCalls: Sendable {
    /// Waits as `Pause.poll` does.
    var poll: @Sendable (inout [pollfd], ContinuousClock.Instant?) -> Bool = { Pause.poll(&$0, until: $1) }
    /// Calls `aldaba_alarm_read`.
    var readAlarm: @Sendable (Int32) -> Int32 = { aldaba_alarm_read($0) }
    /// Calls `aldaba_alarm_set`, and returns the error as a negative number.
    var setAlarm: @Sendable (Int32, Int64) -> Int32 = { aldaba_alarm_set($0, $1) == 0 ? 0 : -errno }
    /// Passes the time before another try of what the system refused.
    var pause: @Sendable () -> Void = { Thread.sleep(forTimeInterval: 1) }
}

/// Waits on one thread, and continues after every error of the system.
struct ClockWait {
    let calls: ClockCalls
    let logger: Logger
    private var isRefused = false

    init(_ calls: ClockCalls, _ logger: Logger) { (self.calls, self.logger) = (calls, logger) }

    /// Waits until a descriptor may have something, or the time has come.
    ///
    /// A system that refuses to wait is given a second, and all may have something then.
    mutating func wait(for descriptors: [(number: Int32, events: Int32)], until deadline: ContinuousClock.Instant?) {
        var polled = descriptors.map { pollfd(fd: $0.number, events: Int16($0.events), revents: 0) }
        if calls.poll(&polled, deadline) {
            if isRefused { logger.info("The clock's thread can wait again.") }
            isRefused = false
            return
        }
        let reason = String(cString: strerror(errno))
        if !isRefused {
            logger.error(
                "The clock's thread cannot wait, and looks once a second.", metadata: [LogKey.error: "\(reason)"])
        }
        isRefused = true
        calls.pause()
    }
}
