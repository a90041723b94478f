import Foundation

/// The example in the page of a target, and the file by which the tests of the target compile it.
package struct PageExample {
    /// Why there is no example to compare.
    package struct Missing: Error, CustomStringConvertible {
        /// The page that shows none.
        package let page: String
        package var description: String { "\(page) has no block that begins with ```swift" }
    }

    /// The first block of Swift in the page, but for `@main`, which no test target can have.
    package let shown: String
    /// The text of the file.
    package let compiled: String

    /// Reads the page of a target and the file of that name in the folder `Examples` beside the test.
    ///
    /// The page is `Sources/SYSTEM/TARGET/README.md`, or the section `## TARGET` of `Sources/SYSTEM/README.md`.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - test: The path of the calling test, in `Tests/SYSTEM/TARGETTests`.
    package init(_ name: String, test: String = #filePath) throws {
        let tests = URL(fileURLWithPath: test).deletingLastPathComponent()
        var target = tests
        while !target.lastPathComponent.hasSuffix("Tests") && target.pathComponents.count > 1 {
            target.deleteLastPathComponent()
        }
        let module = String(target.lastPathComponent.dropLast("Tests".count))
        let system = Repository.root.appendingPathComponent(
            "Sources/\(target.deletingLastPathComponent().lastPathComponent)")
        let own = system.appendingPathComponent("\(module)/README.md")
        if FileManager.default.fileExists(atPath: own.path) {
            try self.init(name, page: own, section: nil, tests: tests)
        } else {
            try self.init(name, page: system.appendingPathComponent("README.md"), section: module, tests: tests)
        }
    }

    /// Reads a guide, such as `Docs/show-a-picture.md`, and the file of that name beside the test.
    package init(_ name: String, guide: String, test: String = #filePath) throws {
        let tests = URL(fileURLWithPath: test).deletingLastPathComponent()
        try self.init(name, page: Repository.root.appendingPathComponent(guide), section: nil, tests: tests)
    }

    private init(_ name: String, page: URL, section: String?, tests: URL) throws {
        compiled = try String(contentsOf: tests.appendingPathComponent("Examples/\(name)"), encoding: .utf8)
        var lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")[...]
        if let section {
            guard let heading = lines.firstIndex(of: "## \(section)") else { throw Missing(page: page.path) }
            lines = lines[(heading + 1)...]
            lines = lines[..<(lines.firstIndex { $0.hasPrefix("## ") } ?? lines.endIndex)]
        }
        guard let first = lines.firstIndex(of: "```swift"), let end = lines[first...].firstIndex(of: "```") else {
            throw Missing(page: page.standardizedFileURL.path)
        }
        shown = lines[first..<end].dropFirst().filter { $0 != "@main" }.map { $0 + "\n" }.joined()
    }
}
