import FerrySpool

extension HubPage {
    /// The machines, the most troubled first.
    var machines: HTML {
        let shown = showsAll || isFile ? report.machines[...] : report.machines.prefix(Self.mostRows)
        let left = report.machines.count - shown.count
        let more: HTML =
            left > 0
            ? #"""
            <p data-k="more" class="more">\#(left) more, less troubled: <a href="?all=1&amp;q=\#(search.queryText, limit: 2000)">show all</a>, or search.</p>
            """# : ""
        let body: HTML = report.machines.isEmpty ? none : #"\#(table(shown.map(row)))\#(more)"#
        return #"""
            <section data-k="machines" id="machines" aria-labelledby="machines-title">
            <h2 data-k="title" id="machines-title">Machines</h2>\#(body)</section>
            """#
    }

    private var none: HTML {
        search.isEmpty
            ? #"<p data-k="none">No machine has a spool here yet. The first appears with what it sends; ferry machine add lets one in.</p>"#
            : #"<p data-k="none">No machine is found.</p>"#
    }

    /// The roles say again what the elements are: in a narrow window they are no table for a browser.
    private func table(_ rows: [HTML]) -> HTML {
        #"""
        <table data-k="table" class="stack" role="table" aria-labelledby="machines-title"><thead data-k="head" role="rowgroup"><tr role="row">\#
        <th role="columnheader" scope="col">Machine</th><th role="columnheader" scope="col">State</th>\#
        <th role="columnheader" scope="col" class="num">Pending</th><th role="columnheader" scope="col" class="num">Oldest</th>\#
        <th role="columnheader" scope="col" class="num">Newest</th><th role="columnheader" scope="col">Last 24 hours</th></tr></thead>\#
        <tbody data-k="rows" role="rowgroup">\#(rows)</tbody></table>
        """#
    }

    private func row(_ machine: HubReport.Machine) -> HTML {
        let amount: HTML = machine.pending > 0 ? "\(segments(machine.pending)), \(machine.bytes.description)" : "–"
        return #"""
            <tr role="row" data-k="\#(machine.path)"><th role="rowheader" scope="row"><bdi>\#(machine.name, limit: 100)</bdi></th>\#
            <td role="cell">\#(machine.conditions.prefix(4).map(condition))</td>\#
            <td role="cell" class="num" data-label="Pending">\#(amount)</td>\#
            <td role="cell" class="num" data-label="Oldest">\#(machine.oldest.map(ago) ?? "–")</td>\#
            <td role="cell" class="num" data-label="Newest">\#(machine.last.map(ago) ?? "–")</td>\#
            <td role="cell">\#(sparks(machine.day))</td></tr>

            """#
    }

    private func condition(_ condition: SpoolCondition) -> HTML {
        let kind = condition.needsPerson ? "bad" : condition.kind == .ok ? "ok" : "warn"
        let since: HTML = condition.since.map { #" <span class="muted">since \#(ago($0))</span>"# } ?? ""
        let until: HTML = condition.until.map { #" <span class="muted">until \#(stamp($0))</span>"# } ?? ""
        let place: HTML = condition.place.map { " to \($0.text):" } ?? ""
        let why: HTML = condition.why.map { " <bdi>\($0, limit: 240)</bdi>" } ?? ""
        let remedy: HTML = condition.remedy.map { #"<br><code>\#($0)</code>"# } ?? ""
        return #"<div><span class="badge \#(kind)">\#(condition.title)</span>\#(place)\#(why)\#(since)\#(until)\#(remedy)</div>"#
    }
}

extension HubReport.Search {
    /// As it stands in a query.
    var queryText: String { text.percentEncodedForURL }
}
