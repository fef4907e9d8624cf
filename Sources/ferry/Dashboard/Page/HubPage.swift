import FerrySpool

/// The page of a hub.
struct HubPage {
    /// Of how many machines there are rows, unless all are asked for.
    static let mostRows = 200

    /// With what the search finds.
    let report: HubReport
    let search: HubReport.Search
    let showsAll: Bool
    /// It can be carried away: nothing in it asks a server.
    let isFile: Bool
    /// There is a token, and so a way to log out.
    let hasLogin: Bool

    init(
        _ report: HubReport, search: HubReport.Search = .init(""), showsAll: Bool = false, isFile: Bool = false,
        hasLogin: Bool = false
    ) {
        self.report = report.matching(search)
        self.search = search
        self.showsAll = showsAll
        self.isFile = isFile
        self.hasLogin = hasLogin
    }

    var now: Timestamp { report.at }

    var html: HTML {
        PageHead.page(title: "Ferry on \(report.host)", isFile: isFile, isLive: !isFile, body)
    }

    private var body: HTML {
        #"""
        <a class="skip" href="#machines">Skip to the machines</a>
        <header><h1>Ferry on <bdi>\#(report.host)</bdi></h1>
        <nav aria-label="Sections"><ul><li><a href="#day">Last 24 hours</a></li><li><a href="#machines">Machines</a></li>
        <li><a href="#rejected">Rejected</a></li><li><a href="#destinations">Destinations</a></li>
        <li><a href="#endings">Last endings</a></li></ul></nav>
        \#(isFile ? "" : searchForm)</header>
        <main id="live"><p data-k="at" class="muted">As of \#(stamp(now)).</p>\#(content)</main>
        <footer><p class="muted">ferry \#(FerryVersion.current)</p>\#(hasLogin ? logOut : "")</footer>
        """#
    }

    /// What changes when something happens.
    var content: HTML { "\(overview)\(plots)\(machines)\(senders)\(rejected)\(destinations)\(endings)" }

    private var searchForm: HTML {
        #"""
        <form id="search" role="search" action="./"><div class="field"><label for="q">Machine, segment or reason</label>
        <input id="q" name="q" type="search" autocomplete="off" maxlength="\#(HubReport.Search.longest)" value="\#(search.text)"></div>
        <button>Search</button></form>
        """#
    }

    private var logOut: HTML { #"<form method="post" action="logout"><button class="plain">Log out</button></form>"# }

    private var overview: HTML {
        let found: HTML =
            search.isEmpty ? "" : #" <span>Found for “<bdi>\#(search.text)</bdi>”:</span>"#
        let problems = report.problems.prefix(5).map { problem -> HTML in #"<p class="notice bad">\#(problem)</p>"# }
        return #"""
            <section data-k="overview" aria-label="Overview">
            <p data-k="totals" role="status" aria-live="polite">\#(found) \#(report.totals.description).</p>
            <div data-k="problems">\#(problems)</div>
            <dl data-k="tiles" class="tiles"><div data-k="n"><dt>Pending</dt><dd>\#(segments(report.pending))</dd></div>
            <div data-k="b"><dt>Size</dt><dd>\#(report.bytes.description)</dd></div>
            <div data-k="o"><dt>Oldest</dt><dd>\#(report.oldest.map { ago($0) } ?? "–")</dd></div>
            <div data-k="r"><dt>Rejected</dt><dd>\#(report.rejectedCount)</dd></div></dl></section>
            """#
    }

    /// A moment, for people and programs.
    func stamp(_ time: Timestamp) -> HTML { #"<time datetime="\#(time.rfc3339)">\#(String(time.rfc3339.prefix(19))) UTC</time>"# }

    /// How long ago a moment was.
    func ago(_ time: Timestamp) -> HTML {
        let age = now - time
        // Of what a wrong clock dated, the age says nothing.
        let isOrdinary = age > .zero - .seconds(60) && age < Self.longestAge
        let text = isOrdinary ? "\(max(age, .zero).roughly) ago" : time.age(at: now)
        return #"<time datetime="\#(time.rfc3339)">\#(text)</time>"#
    }

    /// What is older is told in years.
    private static let longestAge = Duration.seconds(730 * 86_400)

    func segments(_ count: Int64) -> HTML { "\(counted(count, "segment"))" }
}

extension Duration {
    /// For a page that is written anew when something changes: seconds count up to a minute, as tens.
    var roughly: String {
        let seconds = wholeMilliseconds / 1000
        if seconds < 60 { return "\(seconds / 10 * 10) s" }
        return Duration.seconds(seconds < 86_400 ? seconds / 60 * 60 : seconds / 3600 * 3600).forPeople
    }
}
