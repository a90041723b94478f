extension LocalSchedule {
    /// An entry was added, or is taken over from the store; one with the same key is replaced.
    public mutating func add(_ key: Int64, _ entry: Entry, now: Moment) -> Addition {
        remove(key)
        observe(now)
        var slot = ScheduleSlot(key, entry, floating: floating, now: now)
        if slot.forgetFuture(now: now.wall) { corrected.append(key) }
        guard let deadline = slot.firstDeadline(floating: floating, now: now) else { return .never }
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
    public mutating func timePassed(now: Moment, limit: Int) -> [Directive] {
        observe(now)
        var directives: [Directive] = []
        while directives.count < limit, let key = corrected.popLast() {
            if let number = numbers[key] { directives.append(correction(of: slots[Int(number)], now: now)) }
        }
        while directives.count < limit, let key = unanchored.popLast() {
            if let directive = anchored(key, now: now) { directives.append(directive) }
        }
        while directives.count < limit, let number = due(now) {
            // An occurrence is told of by the clock by which its beginning is stored.
            directives.append(anchored(slots[Int(number)].key, now: now) ?? pass(number, now: now))
        }
        return directives
    }

    /// The wall clock was set. Fields of a calendar are looked up anew; intervals stay where they are.
    public mutating func clockChanged(now: Moment) -> [Directive] {
        observe(now)
        unanchored = []
        for number in wall.slots {
            if slots[Int(number)].forgetFuture(now: now.wall) {
                corrected.append(slots[Int(number)].key)
                if let next = slots[Int(number)].firstDeadline(floating: floating, now: now) { move(number, to: next) }
            }
            let slot = slots[Int(number)]
            guard case .calendar(let pattern, let zone) = slot.timing else { continue }
            let beginning = slot.beginning(floating: floating)
            // What the clock was set over is due, but for what is of before the entry: there the clock had been wrong.
            let isOverdue = slot.deadline <= now.wall.milliseconds
            guard !isOverdue || slot.deadline <= beginning.milliseconds && beginning <= now.wall else { continue }
            let begun = max(isOverdue ? beginning : now.wall, slot.lastFired ?? .min)
            guard let next = pattern.nextFire(in: zone ?? floating, after: begun) else { continue }
            move(number, to: next.milliseconds)
        }
        return running.slots.sorted().compactMap { anchored(slots[Int($0)].key, now: now) }
    }

    /// The machine is in another zone. Fields that float are looked up there; what the clocks on the wall jumped over is due.
    ///
    /// Tells as `missed` what there is not in the new zone.
    public mutating func zoneChanged(floating zone: ZoneRules, now: Moment) -> [Directive] {
        observe(now)
        let jump = Int64(zone.offset(at: now.wall) - floating.offset(at: now.wall)) * 1000
        floating = zone
        var directives: [Directive] = []
        for number in wall.slots.sorted() {
            let slot = slots[Int(number)]
            guard case .calendar(let pattern, zone: nil) = slot.timing, slot.deadline > now.wall.milliseconds
            else {
                continue
            }
            let jumped = now.wall.advanced(by: -max(0, jump))
            let begun = max(jumped, min(slot.beginning(floating: zone), now.wall), slot.lastFired ?? .min)
            if let next = pattern.nextFire(in: zone, after: begun) {
                move(number, to: next.milliseconds)
            } else {
                remove(slot.key)
                directives.append(
                    .missed(key: slot.key, occurrence: Instant(milliseconds: slot.deadline), isLast: true))
            }
        }
        return directives
    }

    /// Takes over what the clocks say. Another start of the system within one life is that of a process that was kept over
    /// it: what ran on its clock goes over to the wall clock.
    private mutating func observe(_ now: Moment) {
        if let clock, clock.boot != now.boot {
            for number in running.slots {
                running.remove(number)
                slots[Int(number)].added = slots[Int(number)].start(byWallOf: clock) ?? slots[Int(number)].added
                slots[Int(number)].isRunning = false
                slots[Int(number)].deadline = slots[Int(number)].deadline.saturatingSum(clock.ahead)
                wait(number)
            }
        }
        clock = now
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
    private func due(_ now: Moment) -> UInt32? {
        let byWall = wall.top.flatMap { $0.deadline <= now.wall.milliseconds ? $0 : nil }
        let byRunning = running.top.flatMap { $0.deadline <= now.sinceBoot ? $0 : nil }
        guard let byWall else { return byRunning?.slot }
        guard let byRunning else { return byWall.slot }
        return byRunning.deadline.saturatingSum(now.ahead) < byWall.deadline ? byRunning.slot : byWall.slot
    }

    /// Tells of one that is due, and has it wait for its next occurrence.
    private mutating func pass(_ number: UInt32, now: Moment) -> Directive {
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
    private func anchor(of slot: ScheduleSlot, now: Moment) -> Instant? {
        guard let added = slot.start(byWallOf: now) else { return nil }
        return added.since(slot.added).magnitude >= 1000 ? added : nil
    }

    /// What the owner is to store of one whose last occurrence was forgotten.
    private func correction(of slot: ScheduleSlot, now: Moment) -> Directive {
        let added = Moment(
            wall: slot.added, boot: now.boot, sinceBoot: slot.added.milliseconds.saturatingDifference(now.ahead))
        return .anchored(key: slot.key, added: added, lastFired: slot.lastFired)
    }

    private mutating func anchored(_ key: Int64, now: Moment) -> Directive? {
        guard let number = numbers[key], let added = anchor(of: slots[Int(number)], now: now) else { return nil }
        let shift = added.since(slots[Int(number)].added)
        slots[Int(number)].added = added
        slots[Int(number)].lastFired = slots[Int(number)].lastFired?.advanced(by: shift)
        let begun = Moment(
            wall: added, boot: now.boot, sinceBoot: added.milliseconds.saturatingDifference(now.ahead))
        return .anchored(key: key, added: begun, lastFired: slots[Int(number)].lastFired)
    }
}
