import Foundation
import Mustache
import Testing
import Texts

@testable import Console

@Suite struct TemplateTests {
    @Test func `every template is well formed`() throws {
        #expect(throws: Never.self) { _ = try PageRenderer() }
        let names = Templates.all.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: Templates.all.map(\.name))
    func `each text of a template is in the catalogues`(_ name: String) throws {
        let text = try #require(Templates.all.first { $0.name == name }?.text)
        for match in text.matches(of: /\{\{[#^\/]?t\.([a-zA-Z0-9.\-]+)\}\}/) {
            let key = String(match.output.1)
            for language in Language.allCases {
                #expect(Catalogue.of(language).texts[key] != nil, "\(language.rawValue) has no text \(key)")
            }
        }
    }

    @Test(arguments: Templates.all.map(\.name))
    func `no template leaves a text as it is, or has a script or a style of its own`(_ name: String) throws {
        let text = try #require(Templates.all.first { $0.name == name }?.text)
        #expect(!text.contains("{{{") && !text.contains("{{&"))
        #expect(!text.contains("<style") && !text.contains(" style=") && !text.contains(" onclick="))
        for script in text.matches(of: /<script[^>]*>/) { #expect(script.output.contains(" src=")) }
    }

    @Test func `the style sheet is below 20,000 bytes`() { #expect(ConsoleFiles.style.utf8.count < 20_000) }
}
