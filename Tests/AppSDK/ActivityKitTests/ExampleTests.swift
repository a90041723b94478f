import AldabaTestSupport
import Testing

struct ExampleTests {
    @Test func `the page's example is the code that compiles here`() throws {
        let example = try PageExample("PizzaActivity.swift")
        #expect(example.shown == example.compiled)
    }
}
