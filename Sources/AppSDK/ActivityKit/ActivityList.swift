import AgentProtocol

/// The activities of one type of attributes, as the center sees them.
protocol ActivityReception: Sendable {
    /// The number of activities that take updates.
    var runningCount: Int { get }
    /// Takes what the agent says of an activity, of this type or another.
    func receive(_ activity: LiveActivity, _ center: ActivityCenter)
    /// Dismisses the activities that the agent does not have.
    func dismissAll(except ids: Set<String>)
    /// Dismisses an activity, and forgets it.
    func dismiss(_ id: String)
}

/// The app's activities of one type that are not dismissed.
final class ActivityList<Attributes: ActivityAttributes>: ActivityReception {
    /// The activities. An app has too few at a time for 64 that wait for a reader.
    let activities = Broadcast<Activity<Attributes>>(waitingLimit: 64)

    var runningCount: Int { activities.kept.count { $0.activityState.isRunning } }

    func receive(_ activity: LiveActivity, _ center: ActivityCenter) {
        if activity.state == .dismissed {
            remove(activity.id)?.receive(activity)
        } else if let known = find(activity.id) ?? adopt(activity, center) {
            known.receive(activity)
        }
    }

    func dismissAll(except ids: Set<String>) {
        for activity in activities.kept where !activity.progress.isStarting && !ids.contains(activity.id) {
            dismiss(activity.id)
        }
    }

    /// Adds an activity that the agent has, if it is of this type and new.
    ///
    /// - Returns: An activity of the same id that was added meanwhile.
    @discardableResult
    func adopt(_ activity: LiveActivity, _ center: ActivityCenter) -> Activity<Attributes>? {
        guard activity.attributesType == Attributes.typeName else { return nil }
        do {
            return insert(try Activity<Attributes>(activity, center: center))
        } catch {
            center.report(
                "the Live Activity \(activity.id) is not one of \(Attributes.typeName): \(error)",
                once: "activity \(activity.id)")
            return nil
        }
    }

    /// Adds an activity.
    ///
    /// - Returns: An activity of the same id that is there already, and stays.
    @discardableResult
    func insert(_ activity: Activity<Attributes>) -> Activity<Attributes>? {
        let activity = Shared(value: activity)
        var present: Activity<Attributes>?
        activities.send { kept in
            present = kept.first { $0.value.id == activity.value.id }?.value
            guard present == nil else { return nil }
            kept.append(activity)
            return activity
        }
        return present
    }

    func dismiss(_ id: String) { remove(id)?.enter(.dismissed) }

    /// Forgets an activity, before the app learns that it is dismissed.
    private func remove(_ id: String) -> Activity<Attributes>? {
        var removed: Activity<Attributes>?
        activities.send { kept in
            guard let place = kept.firstIndex(where: { $0.value.id == id }) else { return nil }
            removed = kept.remove(at: place).value
            return nil
        }
        return removed
    }

    private func find(_ id: String) -> Activity<Attributes>? { activities.kept.first { $0.id == id } }
}
