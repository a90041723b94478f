import DeviceModel

/// Starts apps; a port, so that tests need no processes.
package protocol AppLauncher: Sendable {
    /// Starts an app with these variables beside its manifest's own.
    ///
    /// - Parameter ended: Called once, on any thread, when the app's process has ended.
    /// - Returns: The process id.
    /// - Throws: ``AppLaunchFailure``.
    func launch(
        _ manifest: AppManifest, variables: [String: String], ended: @escaping @Sendable (Int32) -> Void
    ) throws(AppLaunchFailure) -> Int32
}

/// Why an app could not be started, in words.
package struct AppLaunchFailure: Error, Sendable, CustomStringConvertible {
    /// What could not be started and why, for the log and the timeline.
    package var description: String

    /// A failure in these words.
    package init(description: String) {
        self.description = description
    }
}
