import AgentEngine
import Platform

/// Starts the processes of service extensions; a port, so that tests need none.
package protocol ExtensionLauncher: Sendable {
    /// Starts the service extension of an app.
    ///
    /// - Parameters:
    ///   - app: The app's manifest, which names the extension.
    ///   - variables: Variables that override the manifest's own.
    ///   - events: Receives the events of the process, on any thread; must not block.
    /// - Throws: ``MachineError``, also where the manifest names no extension.
    func start(
        of app: AppManifest, variables: [String: String], events: @escaping @Sendable (WatchedProgram.Event) -> Void
    ) throws(MachineError) -> any RunningExtension

    /// Deletes what processes of an earlier run of the agent left behind. Called before the first start.
    func clear()
}

/// A process of a service extension.
package protocol RunningExtension: Sendable {
    /// The process id, not reused before the exit is reported.
    var process: Int32 { get }

    /// Kills it and what it started.
    func kill()

    /// Deletes its folder; called once it has ended.
    func clear()
}
