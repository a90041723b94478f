#if DEBUG
    import Foundation

    @testable import Scheduling

    /// Fields of a calendar, as apps send them and as no app would: none may trap or take long; what is found is later than what
    /// was asked from, nothing is before it, and it shows the fields; and what shows them is found.
    enum PatternFuzz: FuzzTest {
        /// For all that one input asks, on the processor.
        private static let timeout = Duration.seconds(1)

        static func run(_ input: UnsafeBufferPointer<UInt8>) {
            let begun = PatternFuzz.used()
            var input = PatternInput(input)
            let choice = input.byte()
            if choice & 3 == 0 {
                PatternFuzz.askForMoment(&input)
            } else {
                PatternFuzz.askForAny(&input, isSent: choice & 3 == 1)
            }
            precondition(PatternFuzz.used() - begun < PatternFuzz.timeout, "it took too long")
        }

        /// What the processor has done for this program.
        private static func used() -> Duration {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        }

        private static func askForAny(_ input: inout PatternInput, isSent: Bool) {
            let given = input.components()
            guard let fields = isSent ? input.sent(given) : given else { return }
            let zone = zone(of: fields) ?? input.zone()
            let pattern = CalendarPattern(fields)
            let start = input.instant(in: zone)
            var last = start
            for _ in 0..<3 {
                guard let next = pattern.nextFire(in: zone, after: last) else { break }
                precondition(next > last, "a moment that is not after the last")
                let between = next.adding(milliseconds: -1 - input.number(below: next.milliseconds(since: last)))
                precondition(pattern.nextFire(in: zone, after: between) == next, "a later look finds another moment")
                precondition(
                    PatternCheck(fields).holds(at: next, in: zone, pattern), "\(next.date) does not match \(fields)")
                last = next
            }
            let limit = input.instant(in: zone)
            guard let found = pattern.lastFire(in: zone, after: start, through: limit) else {
                precondition(pattern.nextFire(in: zone, after: start).map { $0 > limit } ?? true, "no last moment")
                return
            }
            precondition(found > start && found <= limit, "a last moment out of its range")
            precondition(pattern.nextFire(in: zone, after: found).map { $0 > limit } ?? true, "not the last moment")
        }

        /// The fields' own zone, where that is an offset.
        private static func zone(of fields: DateComponents) -> ZoneRules? {
            guard case .fixed(let seconds) = ZoneChoice(fields.timeZone) else { return nil }
            return .fixed(secondsFromGMT: seconds)
        }

        /// Asks for a moment by some of its own fields.
        private static func askForMoment(_ input: inout PatternInput) {
            let zone = input.zone()
            guard let (fields, moment) = input.moment(of: input.calendar(), in: zone) else { return }
            let pattern = CalendarPattern(fields)
            guard CalendarPattern.knowsCalendar(of: fields) else {
                precondition(pattern.isNever, "moments of a calendar that is said to be unknown")
                return
            }
            // What clocks show again counts the first time, if its hour is certain.
            guard !(pattern.fixesHour && PatternCheck.isRepeated(moment, in: zone)) else { return }
            let after = moment.adding(milliseconds: -1 - input.number(below: 5 * 365 * 86_400_000))
            guard let found = pattern.nextFire(in: zone, after: after), found <= moment else {
                preconditionFailure("\(moment.date) is not found by its own fields after \(after.date): \(fields)")
            }
            precondition(
                PatternCheck(fields).holds(at: found, in: zone, pattern), "\(found.date) does not match \(fields)")
        }
    }
#endif
