import AldabaConfiguration
import Testing

@Suite struct AppTemplateTests {
    @Test(
        arguments: [
            ("Harbour", true), ("a", true), ("My_App2", true), ("", false), ("9lives", false), ("my-app", false),
            ("../x", false), ("É", false), ("UIKit", false), ("Foundation", false),
            (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
        ])
    func `a name is one that a program in Swift can have`(name: String, isGood: Bool) {
        #expect((AppTemplate.fault(inName: name) == nil) == isGood)
    }

    @Test(arguments: [nil] + AppTemplate.Kind.allCases)
    func `a package has its manifests, its page and an entry point`(kind: AppTemplate.Kind?) {
        let template = AppTemplate(
            name: "Harbour", id: "com.example.harbour", team: "ALDABADEMO", kind: kind, folder: "/home/ada/\"x\"",
            source: "/opt/\"aldaba\"")
        let files = Dictionary(uniqueKeysWithValues: template.files.map { ($0.path, $0.text) })
        #expect(files["Package.swift"]?.contains(#"path: "/opt/\"aldaba\"", traits: []"#) == true)
        #expect(files["manifest.json"]?.contains(#"/home/ada/\"x\"/.build/debug/Harbour""#) == true)
        #expect(template.commands.allSatisfy { files["README.md"]?.contains($0) == true })
        let entries = files.filter { $0.key.hasSuffix("main.swift") || $0.value.contains("\n@main\n") }
        #expect(entries.count == (kind == .extension ? 2 : 1))
    }

    @Test func `the source is the folder above a program whose package is Aldaba's`() {
        let manifests = [
            "/a/Package.swift": "let package = Package(\n    name: \"aldaba\",",
            "/a/b/Package.swift": "let package = Package(\n    name: \"Consumer\", // of \"aldaba\"",
        ]
        #expect(AppTemplate.source(above: "/a/b/.build/debug/aldaba") { manifests[$0] } == "/a")
        #expect(AppTemplate.source(above: "/usr/bin/aldaba") { manifests[$0] } == nil)
    }
}
