import StoreContract
import StoreMemory
import Testing

/// The contract of both ports, each rule on a store of its own.
@Suite struct MemoryStoreContractTests {
    @Test(arguments: NotificationStoreContract<MemoryStore>.rules)
    func `the notification store's contract holds`(
        rule: ContractRule<NotificationStoreContract<MemoryStore>>
    ) async throws {
        let store = MemoryStore()
        try await rule.check(NotificationStoreContract(store, register: store))
    }

    @Test(arguments: TopicStoreContract<MemoryStore>.rules)
    func `the topic store's contract holds`(rule: ContractRule<TopicStoreContract<MemoryStore>>) async throws {
        let store = MemoryStore()
        try await rule.check(TopicStoreContract(store, register: store))
    }

    @Test(arguments: RegisterStoreContract.rules)
    func `the register store's contract holds`(rule: ContractRule<RegisterStoreContract>) async throws {
        try await rule.check(RegisterStoreContract(MemoryStore()))
    }

    @Test(arguments: AppMessageStoreContract.rules)
    func `the contract of apps' messages holds`(rule: ContractRule<AppMessageStoreContract>) async throws {
        let store = MemoryStore()
        try await rule.check(AppMessageStoreContract(store, register: store))
    }

    @Test(arguments: FeedbackContract.rules)
    func `the feedback store's contract holds`(rule: ContractRule<FeedbackContract>) async throws {
        try await rule.check(FeedbackContract(MemoryStore()))
    }

    @Test(arguments: AuditStoreContract<MemoryStore>.rules)
    func `the contract of the audit log holds`(rule: ContractRule<AuditStoreContract<MemoryStore>>) async throws {
        try await rule.check(AuditStoreContract(MemoryStore()))
    }

    @Test(arguments: InventoryStoreContract<MemoryStore>.rules)
    func `the contract of lists holds`(rule: ContractRule<InventoryStoreContract<MemoryStore>>) async throws {
        let store = MemoryStore()
        try await rule.check(InventoryStoreContract(store, register: store))
    }

    @Test(arguments: PeopleStoreContract.rules)
    func `the contract of people holds`(rule: ContractRule<PeopleStoreContract>) async throws {
        try await rule.check(PeopleStoreContract(MemoryStore()))
    }

    @Test(arguments: ReportStoreContract<MemoryStore>.rules)
    func `the contract of reports holds`(rule: ContractRule<ReportStoreContract<MemoryStore>>) async throws {
        let store = MemoryStore()
        try await rule.check(ReportStoreContract(store, register: store))
    }
}
