import Foundation
import Testing

@testable import AppHost

struct AppHostConfigurationTests {
    private func configuration(
        _ environment: [String: String], manifest: String? = nil
    ) -> AppHostConfiguration {
        AppHostConfiguration(environment: environment, executable: "/opt/todo/TodoList") { path in
            path == "/opt/todo/TodoList.aldaba.json" ? manifest.map { Data($0.utf8) } : nil
        }
    }

    @Test(arguments: [
        (["ALDABA_AGENT_SOCKET": "/s", "XDG_RUNTIME_DIR": "/run/u", "HOME": "/h"], "/s"),
        (["ALDABA_AGENT_SOCKET": "", "XDG_RUNTIME_DIR": "/run/u", "HOME": "/h"], "/run/u/aldaba/agent.sock"),
        (["XDG_STATE_HOME": "/state", "HOME": "/h"], "/state/aldaba/agent.sock"),
        (["HOME": "/h"], "/h/.local/state/aldaba/agent.sock"),
    ])
    func `the socket is the named one, else in the runtime folder, else in the state folder`(
        environment: [String: String], path: String
    ) {
        #expect(configuration(environment).socketPath == path)
    }

    @Test func `the app's id is the environment's, else the manifest's, else none`() {
        let manifest = #"{"id": "com.example.todo", "name": "To do"}"#
        #expect(configuration(["ALDABA_APP_ID": "com.example.other"], manifest: manifest).app == "com.example.other")
        #expect(configuration([:], manifest: manifest).app == "com.example.todo")
        #expect(configuration([:]).app == nil)
        #expect(configuration([:], manifest: "{}").app == nil)
        #expect(configuration([:], manifest: "id: x").app == nil)
    }

    @Test func `the app's resources are in the environment's folder, else in the manifest's`() {
        let manifest = #"{"id": "com.example.todo", "resources": "/opt/todo/files"}"#
        #expect(configuration(["ALDABA_APP_RESOURCES": "/r"], manifest: manifest).resourceFolders == ["/r"])
        #expect(configuration([:], manifest: manifest).resourceFolders == ["/opt/todo/files"])
        #expect(configuration([:]).resourceFolders == [])
    }

    @Test func `an app is supervised when it is told so`() {
        #expect(configuration(["ALDABA_SUPERVISED": "1"]).isSupervised)
        #expect(!configuration([:]).isSupervised)
    }
}
