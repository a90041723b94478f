import Testing

@testable import Texts

@Suite struct CatalogueTests {
    private static let english = Catalogue.of(.english).texts
    private static let spanish = Catalogue.of(.spanish).texts

    /// A key without the form of a plural.
    private static func stem(_ key: String) -> String {
        for form in PluralForm.allCases where key.hasSuffix(".\(form.rawValue)") {
            return String(key.dropLast(form.rawValue.count + 1))
        }
        return key
    }

    @Test func `no language lacks a key`() {
        let keys = [Self.english, Self.spanish].map { Set($0.keys.map(Self.stem)) }
        #expect(keys[0].subtracting(keys[1]).sorted() == [])
        #expect(keys[1].subtracting(keys[0]).sorted() == [])
        #expect(!keys[0].isEmpty)
    }

    @Test(arguments: Language.allCases)
    func `a text with a number has each form of its language`(_ language: Language) {
        let texts = Catalogue.of(language).texts
        let forms = language == .english ? ["one", "other"] : ["one", "many", "other"]
        for key in texts.keys where key.hasSuffix(".other") {
            let stem = Self.stem(key)
            for form in forms { #expect(texts["\(stem).\(form)"] != nil, "\(stem).\(form) is missing") }
        }
    }

    @Test func `a text has the same placeholders in each language`() {
        func names(_ text: String) -> Set<Substring> {
            Set(text.matches(of: /\{(\w+)\}/).map(\.output.1))
        }
        for (key, text) in Self.english {
            guard let other = Self.spanish[key] else { continue }
            #expect(names(text) == names(other), "\(key)")
        }
    }

    @Test func `a key stands in one section`() {
        for language in Language.allCases {
            var seen: Set<String> = []
            for section in Catalogue.sections {
                for key in Catalogue.read(section.lines(language)).keys {
                    #expect(seen.insert(key).inserted, "\(key) stands twice")
                }
            }
        }
    }

    @Test(arguments: [
        (nil, Language.english), ("es", .spanish), ("es-MX,es;q=0.9,en;q=0.8", .spanish), ("de, en;q=0.5", .english),
        ("en;q=0.2, es;q=0.7", .spanish), ("fr", .english), ("es;q=0", .english), ("*", .english),
    ])
    func `a browser's languages choose one`(_ field: String?, _ language: Language) {
        #expect(Language(acceptLanguage: field) == language)
    }

    @Test(arguments: [
        ([:], Language.english), (["LANG": "es_ES.UTF-8"], .spanish),
        (["LANG": "es_ES.UTF-8", "LC_ALL": "C"], .english),
        (["LC_MESSAGES": "es", "LANG": "en_US.UTF-8"], .spanish),
    ])
    func `the environment chooses a language`(_ environment: [String: String], _ language: Language) {
        #expect(Language(environment: environment) == language)
    }

    @Test(arguments: [
        (Language.english, 4096, "4,096"), (.spanish, 4096, "4096"), (.spanish, 12_345, "12.345"),
        (.english, 999, "999"),
        (.spanish, -1_234_567, "-1.234.567"), (.english, 0, "0"),
    ])
    func `numbers are grouped as the language does`(_ language: Language, _ number: Int, _ text: String) {
        #expect(language.number(number) == text)
    }

    @Test(arguments: [
        (Language.english, 1, "1 new notification"), (.english, 0, "0 new notifications"),
        (.spanish, 1, "1 notificación nueva"), (.spanish, 2_000_000, "2.000.000 de notificaciones nuevas"),
    ])
    func `a number chooses the form of a text`(_ language: Language, _ count: Int, _ text: String) {
        #expect(Catalogue.of(language).text("inbox.new", count: count) == text)
    }

    @Test func `placeholders are filled once`() {
        #expect(Catalogue.of(.english).text("layout.zone", ["zone": "{zone}"]) == "Times are in {zone}.")
        #expect(Catalogue.of(.english).text("no.such.key") == "no.such.key")
    }
}
