extension LocalSchedule {
    /// An entry was added, or is taken over from the store; one with the same key is replaced.
    public mutating func add(_ key: Int64, _ entry: Entry, now: ClockReading) -> Addition {
        remove(key)
        observe(now)
        var slot = ScheduleSlot(key, entry, floating: floating, now: now)
        if unsureSince == nil, slot.forgetFuture(now: now) { corrected.insert(key) }
        // A clock that was ahead when it was added does not put it off until then; one that is behind now does not bring it sooner.
        let begin = unsureSince == nil ? now.wall : .max
        guard let deadline = slot.firstDeadline(floating: floating, now: begin) else { return .never }
        slot.deadline = deadline
        let number: UInt32
        if let unused = free.popLast() {
            number = unused
            slots[Int(number)] = slot
        } else {
            guard slots.count < Int(UInt32.max) else { return .never }
            number = UInt32(slots.count)
            slots.append(slot)
        }
        numbers[key] = number
        if anchor(of: slot, now: now) != nil { unanchored.append(key) }
        wait(number)
        return .waits(until: Instant(milliseconds: deadline).advanced(by: slot.isRunning ? now.ahead : 0))
    }

    /// It waits no more; nothing happens when it did not.
    public mutating func remove(_ key: Int64) {
        guard let number = numbers.removeValue(forKey: key) else { return }
        wall.remove(number)
        running.remove(number)
        // What it refers to is let go.
        slots[Int(number)].timing = .calendar(.never, zone: nil)
        free.append(number)
    }

    /// Time has passed: tells what is due, the earliest first, and no more than so many; the rest with the next call.
    ///
    /// Of a repeating one all that was missed counts as one, the newest.
    ///
    /// - Parameter isWallBelieved: without it, only what waits on the clock that nobody sets is told of.
    public mutating func timePassed(now: ClockReading, limit: Int, isWallBelieved: Bool = true) -> [Directive] {
        observe(now)
        var directives: [Directive] = []
        while directives.count < limit, let number = due(now, isWallBelieved: isWallBelieved) {
            directives.append(stored(number, now: now) ?? pass(number, now: now))
        }
        while isWallBelieved, directives.count < limit, let key = corrected.first ?? unanchored.popLast() {
            guard let number = numbers[key] else {
                corrected.remove(key)
                continue
            }
            if let directive = stored(number, now: now) { directives.append(directive) }
        }
        return directives
    }

    /// What the owner is to store of one before an occurrence of it is told of, since that counts by the clock as it is now.
    private mutating func stored(_ number: UInt32, now: ClockReading) -> Directive? {
        let key = slots[Int(number)].key
        return corrected.remove(key) == nil ? anchored(key, now: now) : correction(of: number, now: now)
    }

    /// The wall clock was set, or the machine has slept: what is due now is told of by `timePassed`.
    ///
    /// Fields of a calendar are looked up anew where that makes a difference; intervals stay where they are.
    public mutating func clockChanged(now: ClockReading) {
        // Two clocks that are read one after the other seem to move a little.
        let isSetBack = now.ahead < mostAhead.saturatingDifference(1000)
        observe(now)
        if isSetBack { mostAhead = now.ahead }
        // What has come since it was not sure which clock is right comes now.
        let begin = now.before(wasUnsureSince)
        wasUnsureSince = nil
        unanchored = running.slots.map { slots[Int($0)].key }.sorted(by: >)
        for number in wall.slots where isSetBack || slots[Int(number)].deadline <= now.wall.milliseconds {
            if unsureSince == nil, slots[Int(number)].forgetFuture(now: begin) {
                corrected.insert(slots[Int(number)].key)
                if let next = slots[Int(number)].firstDeadline(floating: floating, now: now.wall) {
                    wall.remove(number)
                    move(number, to: next)
                }
            }
            let slot = slots[Int(number)]
            guard case .calendar(let pattern, let zone) = slot.timing else { continue }
            let beginning = slot.beginning(floating: floating)
            // What the clock was set over is due, but for what is of before the entry: there the clock had been wrong.
            let isOverdue = slot.deadline <= now.wall.milliseconds
            guard !isOverdue || slot.deadline <= beginning.milliseconds && beginning <= now.wall else { continue }
            let begun = max(isOverdue || unsureSince != nil ? beginning : now.wall, slot.lastFired ?? .min)
            guard let next = pattern.nextFire(in: zone ?? floating, after: begun) else { continue }
            move(number, to: next.milliseconds)
        }
    }

    /// The machine is in another zone, or zones have other rules than before. Fields are looked up anew where that makes a
    /// difference; what the clocks on the wall there jumped over is due.
    ///
    /// Tells as `missed` what there is not by the new rules.
    /// - Parameters:
    ///   - zone: the zone where the machine is.
    ///   - rules: those of a zone by its name, as they are now; `nil` for one that is as before.
    public mutating func zonesChanged(
        floating zone: ZoneRules, named rules: (String) -> ZoneRules?, now: ClockReading
    ) -> [Directive] {
        observe(now)
        let before = floating
        floating = zone
        var renewed: [String: ZoneRules?] = [:]
        var directives: [Directive] = []
        for number in wall.slots.sorted() {
            guard case .calendar(let pattern, let own) = slots[Int(number)].timing else { continue }
            guard let own else {
                if before != zone { directives += lookUp(number, pattern, from: before, to: zone, now: now) }
                continue
            }
            guard let name = own.name else { continue }
            let found = renewed[name] ?? rules(name)
            renewed[name] = .some(found)
            guard let new = found, new != own else { continue }
            slots[Int(number)].timing = .calendar(pattern, zone: new)
            directives += lookUp(number, pattern, from: own, to: new, now: now)
        }
        return directives
    }

    private mutating func lookUp(
        _ number: UInt32, _ pattern: CalendarPattern, from old: ZoneRules, to new: ZoneRules, now: ClockReading
    ) -> [Directive] {
        let slot = slots[Int(number)]
        guard slot.deadline > now.wall.milliseconds else { return [] }
        let jump = Int64(new.offset(at: now.wall) - old.offset(at: now.wall)) * 1000
        let jumped = now.wall.advanced(by: -max(0, jump))
        let begun = max(jumped, min(slot.beginning(floating: floating), now.wall), slot.lastFired ?? .min)
        if let next = pattern.nextFire(in: new, after: begun) {
            move(number, to: next.milliseconds)
            return []
        }
        remove(slot.key)
        return [.missed(key: slot.key, occurrence: Instant(milliseconds: slot.deadline), isLast: true)]
    }

    /// Takes over what the clocks say. Another start of the system within one life is that of a process that was kept over
    /// it: what ran on its clock goes over to the wall clock.
    private mutating func observe(_ now: ClockReading) {
        if let clock, clock.boot != now.boot {
            // The clocks of two starts cannot be compared.
            mostAhead = .max
            for number in running.slots {
                running.remove(number)
                slots[Int(number)].added = slots[Int(number)].start(byWallOf: clock) ?? slots[Int(number)].added
                slots[Int(number)].isRunning = false
                slots[Int(number)].deadline = slots[Int(number)].deadline.saturatingSum(clock.ahead)
                wait(number)
            }
        }
        clock = now
        mostAhead = max(mostAhead, now.ahead)
    }

    private mutating func wait(_ number: UInt32) {
        let slot = slots[Int(number)]
        if slot.isRunning {
            running.set(number, deadline: slot.deadline)
        } else {
            wall.set(number, deadline: slot.deadline)
        }
    }

    private mutating func move(_ number: UInt32, to deadline: Int64) {
        slots[Int(number)].deadline = deadline
        wait(number)
    }

    /// The one that has been due the longest.
    private func due(_ now: ClockReading, isWallBelieved: Bool) -> UInt32? {
        let byWall = isWallBelieved ? wall.top.flatMap { $0.deadline <= now.wall.milliseconds ? $0 : nil } : nil
        let byRunning = running.top.flatMap { $0.deadline <= now.sinceBoot ? $0 : nil }
        guard let byWall else { return byRunning?.slot }
        guard let byRunning else { return byWall.slot }
        return byRunning.deadline.saturatingSum(now.ahead) < byWall.deadline ? byRunning.slot : byWall.slot
    }

    /// Tells of one that is due, and has it wait for its next occurrence.
    private mutating func pass(_ number: UInt32, now: ClockReading) -> Directive {
        let slot = slots[Int(number)]
        let time = slot.isRunning ? now.sinceBoot : now.wall.milliseconds
        let newest = slot.newest(floating: floating, time: time)
        let late = time.saturatingDifference(newest)
        let occurrence = now.wall.advanced(by: -late)
        let next = slot.next(floating: floating, newest: newest, time: time)
        if let next {
            slots[Int(number)].lastFired = occurrence
            move(number, to: next)
        } else {
            remove(slot.key)
        }
        guard slot.missed.fires(lateBy: late) else {
            return .missed(key: slot.key, occurrence: occurrence, isLast: next == nil)
        }
        return .fire(key: slot.key, occurrence: occurrence, lateBy: late, isLast: next == nil)
    }

    /// What the wall clock of today would have said when an interval was added, where that is another second than it did.
    private func anchor(of slot: ScheduleSlot, now: ClockReading) -> Instant? {
        guard let added = slot.start(byWallOf: now) else { return nil }
        return added.since(slot.added).magnitude >= 1000 ? added : nil
    }

    /// What the owner is to store of one that had been of a clock far ahead.
    private mutating func correction(of number: UInt32, now: ClockReading) -> Directive {
        if let directive = anchored(slots[Int(number)].key, now: now) { return directive }
        let slot = slots[Int(number)]
        let added = ClockReading(
            wall: slot.added, boot: now.boot, sinceBoot: slot.added.milliseconds.saturatingDifference(now.ahead))
        return .anchored(key: slot.key, added: added, lastFired: slot.lastFired)
    }

    private mutating func anchored(_ key: Int64, now: ClockReading) -> Directive? {
        guard let number = numbers[key], let added = anchor(of: slots[Int(number)], now: now) else { return nil }
        let shift = added.since(slots[Int(number)].added)
        slots[Int(number)].added = added
        slots[Int(number)].lastFired = slots[Int(number)].lastFired?.advanced(by: shift)
        let begun = ClockReading(
            wall: added, boot: now.boot, sinceBoot: added.milliseconds.saturatingDifference(now.ahead))
        return .anchored(key: key, added: begun, lastFired: slots[Int(number)].lastFired)
    }
}
