/// Makes pages, one at a time: many readers of a large hub must not keep its processors from deliveries.
actor PageMaker {
    func page(_ report: HubReport, search: HubReport.Search, showsAll: Bool, hasLogin: Bool) -> HTML {
        HubPage(report, search: search, showsAll: showsAll, hasLogin: hasLogin).html
    }
}
