import AgentEngine
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import Testing

struct AppManifestTests {
    private let good = """
        {"id":"com.example.todo","name":"Todo","team":"TEAM000001","executable":"/opt/todo","authorization":"granted",
        "lifecycle":"always","arguments":["--quiet"],"environment":{"TODO":"1"},"backgroundModes":["remote-notification"],
        "encryptedPayloads":"extension"}
        """

    @Test func `a complete manifest is read`() throws {
        let manifest = try AppManifest.read(Data(good.utf8))
        #expect(manifest.id == "com.example.todo")
        #expect(manifest.arguments == ["--quiet"])
        #expect(manifest.environment == ["TODO": "1"])
        #expect(manifest.authorization == .granted)
        #expect(manifest.encryptedPayloads == .extension)
    }

    @Test(arguments: [
        ("\"com.example.todo\"", "\"../evil\"", "id"), ("\"com.example.todo\"", "\".hidden\"", "id"),
        ("TEAM000001", "team", "team"), ("\"/opt/todo\"", "\"opt/todo\"", "executable"),
        ("\"/opt/todo\"", "7", "executable"), ("granted", "maybe", "authorization"), ("always", "never", "lifecycle"),
        ("\"extension\"", "\"server\"", "encryptedPayloads"),
        ("\"TODO\":\"1\"", "\"A=B\":\"1\"", "environment"), ("{\"id\"", "{\"ID\"", "ID"),
        ("\"id\":\"com.example.todo\",", "", "id"),
        ("remote-notification", "remote-notifications", "backgroundModes"),
        ("\"com.example.todo\"", "\"aldaba.notify\"", "id"), ("\"com.example.todo\"", "\"aldaba.relay\"", "id"),
        ("\"com.example.todo\"", "\"Aldaba\"", "id"),
    ])
    func `a fault is named by its key`(part: String, replacement: String, key: String) throws {
        let text = good.replacingOccurrences(of: part, with: replacement)
        let fault = #expect(throws: AppManifestError.self) { try AppManifest.read(Data(text.utf8)) }
        #expect(fault?.key == key)
    }

    private let extended = """
        {"id":"com.example.todo","team":"TEAM000001","executable":"/opt/todo","applicationGroups":["group.com.example"],
        "serviceExtension":{"id":"com.example.todo.Service","version":"1.4","executable":"/opt/service",
        "principalClass":"Todo.Service","environment":{"TODO":"1"}}}
        """

    @Test func `an app may be woken for notifications, and for calls`() throws {
        let text = good.replacingOccurrences(of: "\"remote-notification\"", with: "\"remote-notification\",\"voip\"")
        #expect(try AppManifest.read(Data(text.utf8)).backgroundModes == ["remote-notification", "voip"])
    }

    @Test func `a service extension is read`() throws {
        let manifest = try AppManifest.read(Data(extended.utf8))
        #expect(manifest.applicationGroups == ["group.com.example"])
        #expect(
            manifest.serviceExtension
                == ServiceExtensionManifest(
                    id: "com.example.todo.Service", version: "1.4", executable: "/opt/service",
                    environment: ["TODO": "1"], principalClass: "Todo.Service"))
    }

    @Test(arguments: [
        ("com.example.todo.Service", "com.example.other", "serviceExtension.id"),
        ("com.example.todo.Service", "com.example.todo.../x", "serviceExtension.id"),
        ("\"/opt/service\"", "\"opt/service\"", "serviceExtension.executable"),
        ("\"1.4\"", "\"1 4\"", "serviceExtension.version"), ("principalClass", "class", "serviceExtension.class"),
        ("{\"TODO\"", "{\"\"", "serviceExtension.environment"),
        ("group.com.example", "com.example", "applicationGroups"),
        ("group.com.example", "group./..", "applicationGroups"),
    ])
    func `a fault of a service extension is named by its key`(part: String, replacement: String, key: String) throws {
        let text = extended.replacingOccurrences(of: part, with: replacement)
        let fault = #expect(throws: AppManifestError.self) { try AppManifest.read(Data(text.utf8)) }
        #expect(fault?.key == key)
    }

    @Test(arguments: [
        ("todo://list", true), ("TODO:x", true), ("todos://list", false), ("https://h", false), ("todo", false),
    ])
    func `an app opens the addresses of its own schemes`(address: String, isOwn: Bool) throws {
        let text = good.replacingOccurrences(of: "{\"id\"", with: "{\"schemes\":[\"todo\"],\"id\"")
        #expect(try AppManifest.read(Data(text.utf8)).opens(address) == isOwn)
    }

    @Test(arguments: ["https", "Todo", "", "4to", "to do"])
    func `a scheme that is the web's, or none, is refused`(scheme: String) {
        let text = good.replacingOccurrences(of: "{\"id\"", with: "{\"schemes\":[\"\(scheme)\"],\"id\"")
        let fault = #expect(throws: AppManifestError.self) { try AppManifest.read(Data(text.utf8)) }
        #expect(fault?.key == "schemes")
    }

    @Test(arguments: [
        "sh", "python3.12", "Python", "pypy3", "lua5.4", "luajit", "guile-3.0", "perl5.40.0", "tclsh8.6", "wish8.6",
        "fish",
        "tcsh", "mksh", "gawk", "mawk", "expect", "Rscript", "julia", "electron", "wine64", "bwrap", "flatpak", "java",
        "ld-linux-x86-64.so.2", "ld-2.31.so", "ld-musl-x86_64.so.1", "ld.so", "qemu-x86_64", "qemu-aarch64-static",
    ])
    func `an interpreter is known by its name, whatever its version`(name: String) throws {
        #expect(try fault(name) != nil)
    }

    @Test(arguments: [
        "node_exporter", "java-app", "wish-list", "lua-editor", "env_monitor", "shell", "python-quiz", "nodes", "2048",
        "7z",
        "ldap", "ldap.sorter", "qemu-manager", "wine-cellar", "todo-2.0", "fishing3",
    ])
    func `a program whose name only begins like an interpreter's may be an app`(name: String) throws {
        #expect(try fault(name) == nil)
    }

    @Test func `an interpreter is known by the name of a link to it, and by its own`() throws {
        let folder = try TemporaryFolder()
        for (link, program) in [("luajit", "luajit-2.1.0-beta3"), ("todo", "python3")] {
            #expect(FileManager.default.createFile(atPath: folder.path(program), contents: Data()))
            try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: program)
            var manifest = todoManifest
            manifest.executable = folder.path(link)
            #expect(manifest.programFault()?.key == "executable")
        }
    }

    /// What stands against a program of this name that is no script.
    private func fault(_ name: String) throws -> AppManifestError? {
        let folder = try TemporaryFolder()
        #expect(FileManager.default.createFile(atPath: folder.path(name), contents: Data([0x7F, 0x45, 0x4C, 0x46])))
        var manifest = todoManifest
        manifest.executable = folder.path(name)
        return manifest.programFault()
    }
}
