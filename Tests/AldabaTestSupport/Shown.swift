/// Everything that a program could show of a value without asking it for its parts: its text, its text for debugging, and
/// all that mirrors reach.
package func shown(_ value: Any) -> String {
    var text = "\(value)\n\(String(reflecting: value))\n"
    dump(value, to: &text)
    return text
}
