import AldabaTestSupport
import Foundation
import Testing

@testable import AldabaConfiguration

@Test func `the page of configuration keys is what the table says`() throws {
    let root = Repository.root
    let page = try String(contentsOf: root.appendingPathComponent("Docs/configuration.md"), encoding: .utf8)
    #expect(page == ConfigurationDocument.markdown(), "make it anew with `aldaba configuration-page`")
}

@Test(arguments: ConfigurationKey.allCases)
func `every default is a value that its key takes`(key: ConfigurationKey) {
    if let text = key.row.defaultText { #expect(key.row.type.normalized(text) == text) }
}
