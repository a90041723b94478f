import PushCore

/// Storage of the ends of registrations until a provider has read them; the port behind the feedback service.
package protocol FeedbackStore: Sendable {
    /// The unread ends of an app's registrations in one environment, the oldest first.
    func endedRegistrations(app: AppID, environment: PushEnvironment, limit: Int) async throws -> [EndedRegistration]

    /// Deletes the ends of an app's registrations in one environment up to a number, durably: they were read.
    func forgetEnds(app: AppID, environment: PushEnvironment, through number: Int64) async throws
}

/// The end of one generation of a registration.
package struct EndedRegistration: Hashable, Sendable {
    /// The end's number, which rises and up to which ends are deleted.
    package var number: Int64
    /// The device that had the app.
    package var device: DeviceID
    /// The generation that ended.
    package var generation: UInt16
    /// The time at which it ended.
    package var endedAt: Timestamp

    /// Creates an entry; nothing is checked.
    package init(number: Int64, device: DeviceID, generation: UInt16, endedAt: Timestamp) {
        self.number = number
        self.device = device
        self.generation = generation
        self.endedAt = endedAt
    }
}
