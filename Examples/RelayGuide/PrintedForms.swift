import ConnectedDevices
import Foundation

/// The steps of a reader who writes the guide's Objective-C in Swift line by line.
protocol PrintedSteps: Sendable {
    func run() async
}

/// The guide's own forms: listeners with two arguments, and methods with a completion handler. They are deprecated, so
/// `main.swift` calls them through the protocol.
struct PrintedForms: PrintedSteps {
    @available(*, deprecated, message: "the forms are the guide's")
    func run() async {
        let (found, finding) = AsyncStream.makeStream(of: MCDRemoteSystem.self)
        let watcher = MCDRemoteSystemWatcher()
        _ = watcher.addRemoteSystemAddedListener { _, system in finding.yield(system) }
        _ = watcher.addRemoteSystemUpdatedListener { _, system in finding.yield(system) }
        _ = watcher.addRemoteSystemRemovedListener { watcher, _ in watcher.stop() }
        watcher.start()
        for await system in found {
            guard let selected = system.getApplications().first(where: { $0.applicationId == app }) else { continue }
            watcher.stop()
            await launch("guide:hello", MCDRemoteSystemConnectionRequest(remoteSystemApplication: selected))
            for uri in ["mailto:a@example.org", "tel:1"] {
                await launch(uri, MCDRemoteSystemConnectionRequest(remoteSystem: system))
            }
            return await talk(to: selected)
        }
    }

    @available(*, deprecated, message: "the forms are the guide's")
    private func launch(_ uri: String, _ request: MCDRemoteSystemConnectionRequest) async {
        let launcher = MCDRemoteLauncher()
        await withCheckedContinuation { done in
            launcher.launchUriAsync(uri, with: request) { result, error in
                say("launch \(uri): \(error.map { "\($0)" } ?? "\(result)")")
                done.resume()
            }
        }
    }

    @available(*, deprecated, message: "the forms are the guide's")
    private func talk(to selected: MCDRemoteSystemApplication) async {
        let (closed, closing) = AsyncStream.makeStream(of: MCDAppServiceClosedStatus.self)
        let connection = MCDAppServiceConnection()
        connection.appServiceDescription = MCDAppServiceDescription(name: service, packageId: selected.applicationId)
        _ = connection.addServiceClosedListener { _, status in closing.yield(status) }
        let request = MCDRemoteSystemConnectionRequest(remoteSystemApplication: selected)
        for _ in 0..<2 {
            await withCheckedContinuation { done in
                connection.openRemoteAsync(request) { status, error in
                    say("open: \(error.map { "\($0)" } ?? "\(status)")")
                    done.resume()
                }
            }
        }
        for type in ["ping", "close"] {
            await withCheckedContinuation { done in
                connection.sendMessageAsync(["Type": type]) { response, error in
                    say("\(type): \(error == nil) \(response.status) \(response.message["Type"] ?? "nothing")")
                    done.resume()
                }
            }
        }
        for await status in closed { return say("disconnected (\(status.rawValue))") }
    }
}
