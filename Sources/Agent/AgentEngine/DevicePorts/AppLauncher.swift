/// Starts apps; a port, so that tests need no processes.
package protocol AppLauncher: Sendable {
    /// Starts an app with these variables beside its manifest's own.
    ///
    /// - Parameter ended: Called once, on any thread, when the app's process has ended.
    /// - Returns: The process id.
    /// - Throws: ``AppLaunchError``.
    func launch(
        _ manifest: AppManifest, variables: [String: String], ended: @escaping @Sendable (Int32) -> Void
    ) throws(AppLaunchError) -> Int32
}

/// The reason why an app could not be started, for people.
package struct AppLaunchError: Error, Sendable, CustomStringConvertible {
    /// The program that could not be started and the reason, for the log and the timeline.
    package var description: String

    /// Creates a failure with this description.
    package init(description: String) {
        self.description = description
    }
}
