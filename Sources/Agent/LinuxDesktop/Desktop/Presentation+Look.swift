import AgentEngine

/// The same notification in another look.
extension Presentation {
    /// Without a sound.
    var silenced: Presentation {
        var silent = self
        silent.sound = .silent
        return silent
    }

    /// The presentation with the newer one's look, where both are the same notification; the sound stays.
    func refreshed(by newer: Presentation) -> Presentation {
        guard isSame(as: newer) else { return self }
        var refreshed = newer
        (refreshed.sound, refreshed.volume) = (sound, volume)
        return refreshed
    }

    func isSame(as other: Presentation) -> Bool {
        notification == other.notification && app == other.app && identifier == other.identifier
    }
}
