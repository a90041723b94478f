import StoreContract
import StoreMemory
import Testing

/// The contract of both ports, each rule on a store of its own.
@Suite struct MemoryStoreContractTests {
    @Test(arguments: NotificationStoreContract<MemoryStore>.rules)
    func `the notification store's contract holds`(
        rule: ContractRule<NotificationStoreContract<MemoryStore>>
    ) async throws {
        try await rule.check(NotificationStoreContract(MemoryStore()))
    }

    @Test(arguments: RegisterStoreContract.rules)
    func `the register store's contract holds`(rule: ContractRule<RegisterStoreContract>) async throws {
        try await rule.check(RegisterStoreContract(MemoryStore()))
    }
}
