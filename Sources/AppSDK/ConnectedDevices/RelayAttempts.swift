/// The current attempt to connect to the agent: the latest, while the client is started. Events of an earlier
/// connection, its end included, are ignored.
struct RelayAttempts: Sendable {
    /// Whether there is to be a connection.
    private(set) var isStarted = false
    /// Whether the agent has welcomed the attempt that counts.
    private(set) var isOpen = false
    /// Whether an attempt has come to something since the start: before that, requests wait.
    private(set) var hasTried = false
    private var latest = 0

    /// Whether an attempt is the one that counts.
    func counts(_ attempt: Int) -> Bool { isStarted && attempt == latest }

    /// Begins.
    ///
    /// - Returns: The attempt that is to be made; `nil` while it is started.
    mutating func start() -> Int? {
        guard !isStarted else { return nil }
        isStarted = true
        latest += 1
        return latest
    }

    /// Ends; no attempt counts any more.
    mutating func stop() { (isStarted, isOpen, hasTried) = (false, false, false) }

    /// The agent has welcomed an attempt.
    ///
    /// - Returns: Whether it counts.
    mutating func welcome(_ attempt: Int) -> Bool {
        guard counts(attempt) else { return false }
        (isOpen, hasTried) = (true, true)
        return true
    }

    /// An attempt has ended.
    ///
    /// - Returns: Whether it counted, and another is to be made.
    mutating func end(_ attempt: Int) -> Bool {
        guard counts(attempt) else { return false }
        (isOpen, hasTried) = (false, true)
        return true
    }

    /// The next attempt after one that has ended; `nil` where another was made already, or the client is stopped.
    mutating func next(after attempt: Int) -> Int? {
        guard counts(attempt) else { return nil }
        latest += 1
        return latest
    }
}
