import CoreValues

extension LocalSchedule {
    /// Adds an entry, a new one or one from the store. It replaces the one with the same key.
    package mutating func add(_ key: RequestKey, _ entry: Entry, now: ClockReading) -> Addition {
        remove(key)
        observe(now)
        var slot = ScheduleSlot(key, entry, floating: floating, now: now)
        if slot.correctFuture(now: now) { corrected.insert(key) }
        guard let deadline = slot.firstDeadline(floating: floating, now: now.wall) else { return .never }
        slot.deadline = deadline
        let index: UInt32
        if let unused = free.popLast() {
            index = unused
            slots[Int(index)] = slot
        } else {
            guard slots.count < Int(UInt32.max) else { return .never }
            index = UInt32(slots.count)
            slots.append(slot)
        }
        indexes[key] = index
        if anchor(of: slot, now: now) != nil { unanchored.append(key) }
        enqueue(index)
        return .waits(
            until: Timestamp(rawValue: deadline).adding(milliseconds: slot.isOnBootClock ? now.wallOffset : 0))
    }

    /// Removes an entry. An unknown key is ignored.
    package mutating func remove(_ key: RequestKey) {
        guard let index = indexes.removeValue(forKey: key) else { return }
        wallHeap.remove(index)
        bootHeap.remove(index)
        // Releases the pattern's tables.
        slots[Int(index)].timing = .calendar(.never, zone: nil)
        free.append(index)
    }

    /// Time has passed: reports what is due, the earliest first, up to a limit. The next call reports the rest.
    ///
    /// Of all missed occurrences of a repeating entry the newest is reported.
    package mutating func timePassed(now: ClockReading, limit: Int) -> [Directive] {
        observe(now)
        var directives: [Directive] = []
        while directives.count < limit, let index = due(now) {
            directives.append(storeFirst(index, now: now) ?? reportDue(index, now: now))
        }
        while directives.count < limit, let key = corrected.first ?? unanchored.popLast() {
            guard let index = indexes[key] else {
                corrected.remove(key)
                continue
            }
            if let directive = storeFirst(index, now: now) { directives.append(directive) }
        }
        return directives
    }

    /// The change that the owner must store before an occurrence is reported, since the occurrence depends on the
    /// present clock.
    private mutating func storeFirst(_ index: UInt32, now: ClockReading) -> Directive? {
        let key = slots[Int(index)].key
        return corrected.remove(key) == nil ? anchored(key, now: now) : correction(of: index, now: now)
    }

    /// The wall clock was set by no more than ``largestPlausibleStep``, or the machine has slept. `timePassed` reports
    /// what is due by the clock as it is now.
    ///
    /// What the clock was set past is due; occurrences before an entry was added are not, since there the clock was
    /// wrong. Intervals stay where they are.
    package mutating func clockChanged(now: ClockReading) {
        // Two readings of an unchanged clock may differ a little.
        let isSetBack = now.wallOffset < greatestWallOffset.saturatingDifference(1000)
        observe(now)
        if isSetBack { greatestWallOffset = now.wallOffset }
        unanchored = bootHeap.slots.map { slots[Int($0)].key }.sorted(by: >)
        for index in wallHeap.slots where isSetBack || slots[Int(index)].deadline <= now.wall.rawValue {
            let slot = slots[Int(index)]
            guard case .calendar(let pattern, let zone) = slot.timing else { continue }
            let added = slot.addedByWallClock(floating: floating)
            let isOverdue = slot.deadline <= now.wall.rawValue
            guard !isOverdue || slot.deadline <= added.rawValue && added <= now.wall else { continue }
            let start = max(isOverdue ? added : now.wall, slot.lastFired ?? .distantPast)
            guard let next = pattern.nextFire(in: zone ?? floating, after: start) else { continue }
            move(index, to: next.rawValue)
        }
    }

    /// The machine is in another zone, or zones have new rules. Deadlines in these zones are looked up again; what
    /// local time jumped over is due.
    ///
    /// - Parameters:
    ///   - zone: The machine's zone.
    ///   - rules: The present rules of a zone by its name; `nil` for a zone whose rules are unchanged.
    /// - Returns: `missed` for entries that have no occurrence by the new rules.
    package mutating func zonesChanged(
        floating zone: ZoneRules, named rules: (String) -> ZoneRules?, now: ClockReading
    ) -> [Directive] {
        observe(now)
        let before = floating
        floating = zone
        var renewed: [String: ZoneRules?] = [:]
        var directives: [Directive] = []
        for index in wallHeap.slots.sorted() {
            guard case .calendar(let pattern, let own) = slots[Int(index)].timing else { continue }
            guard let own else {
                if before != zone { directives += lookUp(index, pattern, from: before, to: zone, now: now) }
                continue
            }
            guard let name = own.name else { continue }
            let found = renewed[name] ?? rules(name)
            renewed[name] = .some(found)
            guard let new = found, new != own else { continue }
            slots[Int(index)].timing = .calendar(pattern, zone: new)
            directives += lookUp(index, pattern, from: own, to: new, now: now)
        }
        return directives
    }

    private mutating func lookUp(
        _ index: UInt32, _ pattern: CalendarPattern, from old: ZoneRules, to new: ZoneRules, now: ClockReading
    ) -> [Directive] {
        let slot = slots[Int(index)]
        guard slot.deadline > now.wall.rawValue else { return [] }
        let jump = Int64(new.offset(at: now.wall) - old.offset(at: now.wall)) * 1000
        let jumpStart = now.wall.adding(milliseconds: -max(0, jump))
        let start = max(
            jumpStart, min(slot.addedByWallClock(floating: floating), now.wall), slot.lastFired ?? .distantPast)
        if let next = pattern.nextFire(in: new, after: start) {
            move(index, to: next.rawValue)
            return []
        }
        remove(slot.key)
        return [.missed(key: slot.key, occurrence: Timestamp(rawValue: slot.deadline), isLast: true)]
    }

    /// Takes the clock's reading. A new boot id within one process is that of a process that was restored after a boot:
    /// intervals go over from CLOCK_BOOTTIME to the wall clock.
    private mutating func observe(_ now: ClockReading) {
        if let clock, clock.boot != now.boot {
            // Offsets of two boots cannot be compared.
            greatestWallOffset = .max
            for index in bootHeap.slots {
                bootHeap.remove(index)
                slots[Int(index)].added = slots[Int(index)].start(byWallOf: clock) ?? slots[Int(index)].added
                slots[Int(index)].isOnBootClock = false
                slots[Int(index)].deadline = slots[Int(index)].deadline.saturatingSum(clock.wallOffset)
                enqueue(index)
            }
        }
        clock = now
        greatestWallOffset = max(greatestWallOffset, now.wallOffset)
    }

    private mutating func enqueue(_ index: UInt32) {
        let slot = slots[Int(index)]
        if slot.isOnBootClock {
            bootHeap.set(index, deadline: slot.deadline)
        } else {
            wallHeap.set(index, deadline: slot.deadline)
        }
    }

    private mutating func move(_ index: UInt32, to deadline: Int64) {
        slots[Int(index)].deadline = deadline
        enqueue(index)
    }

    /// The entry with the earliest deadline, if that has passed.
    private func due(_ now: ClockReading) -> UInt32? {
        let byWall = wallHeap.top.flatMap { $0.deadline <= now.wall.rawValue ? $0 : nil }
        let byBoot = bootHeap.top.flatMap { $0.deadline <= now.sinceBoot ? $0 : nil }
        guard let byWall else { return byBoot?.slot }
        guard let byBoot else { return byWall.slot }
        return byBoot.deadline.saturatingSum(now.wallOffset) < byWall.deadline ? byBoot.slot : byWall.slot
    }

    /// Reports an entry that is due, and moves it to its next occurrence.
    private mutating func reportDue(_ index: UInt32, now: ClockReading) -> Directive {
        let slot = slots[Int(index)]
        let time = slot.isOnBootClock ? now.sinceBoot : now.wall.rawValue
        let newest = slot.newest(floating: floating, time: time)
        let late = time.saturatingDifference(newest)
        let occurrence = now.wall.adding(milliseconds: -late)
        let next = slot.next(floating: floating, newest: newest, time: time)
        if let next {
            slots[Int(index)].lastFired = occurrence
            move(index, to: next)
        } else {
            remove(slot.key)
        }
        guard slot.missed.fires(lateBy: late) else {
            return .missed(key: slot.key, occurrence: occurrence, isLast: next == nil)
        }
        return .fire(key: slot.key, occurrence: occurrence, lateBy: late, isLast: next == nil)
    }

    /// When an interval was added, by the wall clock as it is now; `nil` where that differs from `added` by less than a
    /// second.
    private func anchor(of slot: ScheduleSlot, now: ClockReading) -> Timestamp? {
        guard let added = slot.start(byWallOf: now) else { return nil }
        return added.milliseconds(since: slot.added).magnitude >= 1000 ? added : nil
    }

    /// The change that the owner must store for an entry that was dated in the future and corrected.
    private mutating func correction(of index: UInt32, now: ClockReading) -> Directive {
        if let directive = anchored(slots[Int(index)].key, now: now) { return directive }
        let slot = slots[Int(index)]
        let added = ClockReading(
            wall: slot.added, boot: now.boot, sinceBoot: slot.added.rawValue.saturatingDifference(now.wallOffset))
        return .anchored(key: slot.key, added: added, lastFired: slot.lastFired)
    }

    private mutating func anchored(_ key: RequestKey, now: ClockReading) -> Directive? {
        guard let index = indexes[key], let added = anchor(of: slots[Int(index)], now: now) else { return nil }
        let shift = added.milliseconds(since: slots[Int(index)].added)
        slots[Int(index)].added = added
        slots[Int(index)].lastFired = slots[Int(index)].lastFired?.adding(milliseconds: shift)
        let reading = ClockReading(
            wall: added, boot: now.boot, sinceBoot: added.rawValue.saturatingDifference(now.wallOffset))
        return .anchored(key: key, added: reading, lastFired: slots[Int(index)].lastFired)
    }
}
