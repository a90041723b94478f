import Testing
import Texts

@Suite struct CommandTextsTests {
    private static let spanish = CommandTexts.of(.spanish)
    private static let pairs = CommandTexts.sections.flatMap(\.pairs)

    private static func placeholders(_ text: String) -> [Substring] {
        text.matches(of: /\{(\w+)\}/).map(\.output.1).sorted()
    }

    @Test func `a section has pairs of lines`() {
        for section in CommandTexts.sections { #expect(section.lineCount.isMultiple(of: 2) && section.lineCount > 0) }
    }

    @Test func `an English text stands in one section`() {
        var seen: Set<String> = []
        for pair in Self.pairs { #expect(seen.insert(pair.english).inserted, "\(pair.english) stands twice") }
    }

    @Test func `a pair has the same placeholders, each once`() {
        for pair in Self.pairs {
            let names = Self.placeholders(pair.english)
            #expect(names == Self.placeholders(pair.spanish), "\(pair.english)")
            #expect(Set(names).count == names.count, "\(pair.english)")
        }
    }

    @Test func `no other pair covers as much of a text as its own`() {
        for pair in Self.pairs { #expect(Self.spanish.text(pair.english) == pair.spanish, "\(pair.english)") }
    }

    @Test func `English stays as it is`() {
        let english = CommandTexts.of(.english)
        for pair in Self.pairs { #expect(english.text(pair.english) == pair.english) }
    }

    @Test(arguments: [
        ("Send a notification to one device or to many.", "Envía una notificación a un dispositivo o a muchos."),
        (
            "  Send a notification to one device or to many.\nno such text",
            "  Envía una notificación a un dispositivo o a muchos.\nno such text"
        ),
        ("--payload: there is no file a b", "--payload: no existe el archivo a b"),
        (
            "host:1 cannot be asked: it does not answer in time",
            "no se puede preguntar a host:1: no responde a tiempo"
        ),
        ("warning: something new", "aviso: something new"),
        ("warning: /a: no such cannot be read: b", "aviso: /a: no such no se puede leer: b"),
        ("x: y; z", "x: y; z"),
        (
            "--apns-port: apns-port is \"x\"; it takes port, 0 to 65535 (0: a free one)",
            "--apns-port: apns-port es \"x\"; admite un puerto, de 0 a 65535 (0: uno libre)"
        ),
    ])
    func `a text is found by its English one`(_ english: String, _ spanish: String) {
        #expect(Self.spanish.text(english) == spanish)
    }
}
