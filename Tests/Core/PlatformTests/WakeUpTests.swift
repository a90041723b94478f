import Foundation
import Platform
import Testing

@Suite(.timeLimit(.minutes(5))) struct WakeUpTests {
    private func isReadable(_ wakeUp: WakeUp) -> Bool {
        var watched = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
        return Pause.poll(&watched, until: .now) && watched[0].revents != 0
    }

    @Test func `it is readable from the first signal until it is cleared`() throws {
        let wakeUp = try WakeUp()
        #expect(!isReadable(wakeUp) && !wakeUp.isSignalled)
        for _ in 0..<3 { wakeUp.signal() }
        #expect(isReadable(wakeUp) && wakeUp.isSignalled)
        wakeUp.clear()
        #expect(!isReadable(wakeUp) && !wakeUp.isSignalled)
        wakeUp.clear()
        wakeUp.signal()
        #expect(isReadable(wakeUp) && wakeUp.isSignalled)
    }

    @Test func `a signal ends a wait that has no other end`() throws {
        let wakeUp = try WakeUp()
        NamedThread.begin("aldaba-signal") { wakeUp.signal() }
        while !wakeUp.isSignalled {
            var watched = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
            #expect(Pause.poll(&watched, until: nil))
        }
    }

    @Test func `a descriptor that the system did not give is told of`() {
        #expect(throws: MachineError.self) { try Descriptor(-1, "timer") }
    }
}

struct MillisecondsTests {
    @Test(arguments: [
        (Duration.zero, Int64(0)), (.milliseconds(1_500), 1_500), (.nanoseconds(1_999_999), 1),
        (.milliseconds(-1_500), -1_500), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
        (.seconds(Int64.max / 1000) + .milliseconds(999), .max),
        (.seconds(Int64.min / 1000) - .milliseconds(999), .min),
    ])
    func `milliseconds are whole and end at the ends of their range`(duration: Duration, milliseconds: Int64) {
        #expect(duration.milliseconds == milliseconds)
    }
}
