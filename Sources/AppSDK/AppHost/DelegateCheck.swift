import Foundation
import Synchronization

/// Looks in this program for methods of a delegate's class that are never called, and reports them at the terminal.
///
/// The methods are read from the program's symbol table; in a stripped program none are found. It is done once for each
/// class, on a thread of its own, so that no launch waits for it.
package enum DelegateCheck {
    /// Looks at a class that is a delegate by these protocols, such as `(any UIApplicationDelegate).self`.
    package static func begin(of type: Any.Type, as protocols: [Any.Type]) {
        let isNew = checked.withLock { $0.count < classLimit && $0.insert(ObjectIdentifier(type)).inserted }
        guard isNew else { return }
        let (type, protocols) = (TypeName(type), protocols.map(TypeName.init))
        Thread.detachNewThread {
            for line in lines(of: type, as: protocols) {
                try? FileHandle.standardError.write(contentsOf: Data("aldaba: \(line)\n".utf8))
            }
        }
    }

    private static let classLimit = 16
    private static let checked = Mutex<Set<ObjectIdentifier>>([])

    /// How a type is named in symbols, and to people.
    struct TypeName: Sendable {
        let mangled: String
        let words: String

        init(_ type: Any.Type) {
            mangled = _mangledTypeName(type) ?? ""
            words = String(reflecting: type).split(separator: ".").last.map(String.init) ?? ""
        }

        /// The prefix of its methods' symbols: those of a class, or the defaults of a protocol's.
        var beginning: String {
            mangled.hasSuffix("_p") ? "$s\(mangled.dropLast(2))PAAE" : "$s\(mangled)"
        }
    }

    /// The faults in the methods of a class, a line each, in the order of their names.
    static func lines(of type: TypeName, as protocols: [TypeName]) -> [String] {
        guard !type.mangled.isEmpty, let symbols = ProgramSymbols() else { return [] }
        let names = symbols.names(beginningWith: ([type] + protocols).map(\.beginning)).filter { $0.hasSuffix("F") }
        func methods(_ owner: TypeName) -> [MissedMethods.Method] {
            names.filter { $0.hasPrefix(owner.beginning) }.compactMap { method($0, of: owner) }
        }
        let wanted = protocols.flatMap { owner in methods(owner).map { (owner: owner.words, method: $0) } }
        guard !wanted.isEmpty else { return [] }
        let missed = MissedMethods(wanted: wanted)
        return Set(
            methods(type).compactMap { method in
                missed.fault(of: method).map { "\(type.words).\(method.name) is never called: \($0)" }
            }
        ).sorted()
    }

    private static func method(_ symbol: String, of owner: TypeName) -> MissedMethods.Method? {
        guard let text = ProgramSymbols.demangled(symbol) else { return nil }
        // `Module.Class.method(…)`, and `(extension in Module):Module.Protocol.method(…)` for a default.
        guard let place = text.range(of: ".\(owner.words).") else { return nil }
        return MissedMethods.Method(String(text[place.upperBound...]), hasNonEscaping: symbol.contains("XE"))
    }
}
