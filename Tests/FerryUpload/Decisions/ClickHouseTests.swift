import FerrySpool
import NIOHTTP1
import Testing

@testable import FerryUpload

@Suite("A table's URL") struct ClickHouseLocationTests {
    private static func target(_ text: String, without unknown: Set<ClickHouseLocation.OwnSetting> = []) throws -> String {
        let location = try ClickHouseLocation(text)
        return "\(location.url.origin)\(location.target(token: "8f3k+2-x", without: unknown))"
    }

    private static let insert = "?query=INSERT%20INTO%20%60db%60.%60events%60%20FORMAT%20JSONEachRow"
    private static let own = "&date_time_input_format=best_effort&insert_deduplication_token=8f3k%2B2-x"

    @Test(
        "Requests go where host, port and scheme say",
        arguments: [
            ("clickhouse://click/db.events", "http://click:8123/\(insert)\(own)"),
            ("clickhouses://click/db.events", "https://click:8443/\(insert)\(own)"),
            ("ClickHouse://click:80/db.events", "http://click/\(insert)\(own)"),
            ("clickhouse://[::1]/db.events", "http://[::1]:8123/\(insert)\(own)"),
            ("clickhouse://[::1]:18123/db.events", "http://[::1]:18123/\(insert)\(own)"),
        ]) func servers(text: String, request: String) throws
    {
        #expect(try Self.target(text) == request)
    }

    @Test("Settings of the query go along, encoded anew, and the user's word on times stands") func settings() throws {
        #expect(
            try Self.target("clickhouse://c/db.events?async_insert=1&date_time_input_format=basic&a_b=%26%C3%BC")
                == "http://c:8123/\(Self.insert)&async_insert=1&date_time_input_format=basic&a_b=%26%C3%BC&insert_deduplication_token=8f3k%2B2-x"
        )
        #expect(try Self.target("clickhouse://c/db.events?role=a&role=b").contains("&role=a&role=b&"))
    }

    @Test("What a server does not know is left out") func unknown() throws {
        #expect(
            try Self.target("clickhouse://c/db.events", without: [.token])
                == "http://c:8123/\(Self.insert)&date_time_input_format=best_effort")
        #expect(try Self.target("clickhouse://c/db.events", without: [.token, .times]) == "http://c:8123/\(Self.insert)")
    }

    @Test(
        "A name stays a name, with any sign in it",
        arguments: [
            ("db.we%60ird", "`db`.`we\\`ird`"), ("db.a%5C", "`db`.`a\\\\`"), ("my-db.a.b", "`my-db`.`a.b`"),
            ("db.%60%3B%27", "`db`.`\\`;'`"), ("db.größe", "`db`.`größe`"),
        ]) func names(path: String, identifier: String) throws
    {
        let wanted = "/?query=" + "INSERT INTO \(identifier) FORMAT JSONEachRow".percentEncodedForURL
        #expect(try Self.target("clickhouse://c/\(path)") == "http://c:8123\(wanted)\(Self.own)")
    }

    @Test("The ledger shows the table, and no settings") func description() throws {
        #expect(try ClickHouseLocation("clickhouse://c:8123/db.events?max_threads=1").description == "clickhouse://c/db.events")
        #expect(try ClickHouseLocation("clickhouse://c:80/db.events").description == "clickhouse://c:80/db.events")
        #expect(try ClickHouseLocation("clickhouses://[::1]:9/db.events").description == "clickhouses://[::1]:9/db.events")
    }

    @Test(
        "One line says why a URL names no table",
        arguments: [
            ("clickhouse:/h/db.t", "names no table"), ("clickhouse://h", "names no table"), ("clickhouse://h/", "names no table"),
            ("clickhouse://h/t", "names no table"), ("clickhouse://h/db.", "names no table"),
            ("clickhouse://h/.t", "names no table"),
            ("clickhouse://h/db.t/x", "names no table"), ("clickhouse://h/db.%0at", "names no table"),
            ("clickhouse://h/db.{stream}", "names no table"), ("clickhouse://h/db.t%zz", "names no table"),
            ("clickhouse:///db.t", "names no server"), ("clickhouse://h:99999/db.t", "names no server"),
            ("clickhouse://{machine}/db.t", "names no server"), ("clickhouse://h#x/db.t", "names no server"),
            ("clickhouse://me:secret@h/db.t", "holds credentials"), ("clickhouse:me:secret@h/db.t", "holds credentials"),
            ("clickhouse://h/db.t?password=secret", "holds credentials"),
            ("clickhouse://h/db.t?User=secret", "holds credentials"), ("clickhouse://h/db.t?x", "'x' in the URL is no setting"),
            ("clickhouse://h/db.t?a-b=1", "'a-b' in the URL is no setting"), ("clickhouse://h/db.t?a=%zz", "is no setting"),
            ("clickhouse://h/db.t?query=SELECT%201", "'query' in the URL is said by Ferry itself"),
            ("clickhouse://h/db.t?insert_deduplication_token=x", "is said by Ferry itself"),
            ("clickhouse://h/db.t?a=1&a=2", "'a' is in the URL more than once"),
            ("clickhouse://h/db.t?async_insert=1&wait_for_async_insert=0", "must be 1"),
        ]) func mistakes(text: String, problem: String) throws
    {
        let error = try #require(throws: DestinationURLError.self) { try ClickHouseLocation(text) }
        #expect(error.description.contains(problem), "\(error)")
        #expect(!error.description.contains("secret"))
    }

    @Test("Only segments as they are go there, several in a request") func bodies() throws {
        #expect(try Destination.check("clickhouse://h/db.t").takesSegmentsOnly)
        #expect(try !Destination("clickhouse://h/db.t").namesSegment)
    }

    @Test("A field that Ferry makes is none of the user's; with a user, that is how requests are let in") func reserved() throws {
        let open = try Destination("clickhouse://h/db.t")
        #expect(open.reserves("X-ClickHouse-Key"))
        #expect(!open.reserves("Authorization"))
        #expect(try Destination("clickhouse://h/db.t", environment: ["CLICKHOUSE_USER": "ferry"]).reserves("Authorization"))
    }
}

@Suite("Credentials of a ClickHouse server") struct ClickHouseCredentialsTests {
    @Test(
        "A file has a user and a password, as they are",
        arguments: [
            ("user = ferry\npassword = a#b ;=\"c\n", "ferry", "a#b ;=\"c"),
            ("\u{feff}# of the edge\n\n  user=ferry\r\n", "ferry", nil),
            ("password = x\nuser = me too", "me too", "x"), ("user = ferry\npassword =\n", "ferry", ""),
        ] as [(String, String, String?)]) func files(text: String, user: String, password: String?) throws
    {
        let credentials = try ClickHouseCredentials(text, of: "f")
        #expect(credentials.user == user)
        #expect(credentials.password == password)
    }

    @Test(
        "One line says what a file lacks or has too much, and shows nothing of it",
        arguments: [
            ("", "f needs a line 'user = …'"), ("password = secret", "f needs a line"),
            ("user =\npassword = secret", "f needs a line"),
            ("user = a\nsecret", "f, line 2: must be"), ("user = a\npass = secret", "f, line 2: must be"),
            ("user = a\nuser = secret", "f, line 2: must be"), ("user = a\npassword = sec\u{1}ret", "control characters"),
        ]) func mistakes(text: String, problem: String) throws
    {
        let error = try #require(throws: DestinationURLError.self) { try ClickHouseCredentials(text, of: "f") }
        #expect(error.description.contains(problem), "\(error)")
        #expect(!error.description.contains("secret"))
    }

    @Test("Variables stand in for a file; without them the server's default user sends") func variables() throws {
        let credentials = try ClickHouseCredentials(environment: ["CLICKHOUSE_USER": "ferry", "CLICKHOUSE_PASSWORD": "x"])
        #expect(credentials.user == "ferry")
        #expect(credentials.password == "x")
        #expect(try ClickHouseCredentials(environment: ["CLICKHOUSE_USER": ""]).isEmpty)
        #expect(throws: DestinationURLError.self) { try ClickHouseCredentials(environment: ["CLICKHOUSE_PASSWORD": "x "]) }
    }
}

@Suite("What a ClickHouse server's answer means") struct ClickHouseAnswerTests {
    private static let ours = [("X-ClickHouse-Server-Display-Name", "click")]

    private static func action(
        _ status: Int, _ body: String = "", _ fields: [(String, String)] = ours,
        said: Set<ClickHouseLocation.OwnSetting> = [.token, .times], trailers: [(String, String)] = [], isWhole: Bool = true
    ) throws -> ClickHouseAnswer.Action {
        let answer = Answer(
            status: status, headers: HTTPHeaders(fields), body: Array(body.utf8), trailers: HTTPHeaders(trailers),
            isWhole: isWhole, isToWholeRequest: true)
        return ClickHouseAnswer(answer, at: try #require(Timestamp(rfc3339: "2026-11-27T08:00:00Z"))).action(said: said)
    }

    /// As servers of 18 write it.
    private static func old(_ code: Int, _ message: String = "so it is") -> String {
        "Code: \(code), e.displayText() = DB::Exception: \(message), e.what() = DB::Exception\n"
    }

    /// As servers of 21 and later write it.
    private static func new(_ code: Int, _ message: String = "so it is") -> String {
        "Code: \(code). DB::Exception: \(message). (NAME) (version 25.8.2.29 (official build))\n"
    }

    /// A word for what follows, with `?` where some of it may have arrived.
    private static func word(_ action: ClickHouseAnswer.Action) -> String {
        guard case .verdict(let verdict, let mayHaveArrived) = action else { return "\(action)" }
        return "\(verdict)".prefix { $0 != "(" } + (mayHaveArrived ? "?" : "")
    }

    private static func message(_ action: ClickHouseAnswer.Action) -> String {
        guard case .verdict(let verdict, _) = action else { return "\(action)" }
        return verdict.reason?.message ?? ""
    }

    @Test(
        "A code says more than its status, in the old form and the new one",
        arguments: [
            (60, "misconfigured"), (81, "misconfigured"), (16, "misconfigured"), (115, "misconfigured"), (192, "misconfigured"),
            (193, "misconfigured"), (194, "misconfigured"), (516, "misconfigured"), (164, "misconfigured"),
            (497, "misconfigured"),
            (48, "misconfigured"), (452, "misconfigured"), (202, "unavailable"), (242, "unavailable"), (252, "unavailable"),
            (159, "unavailable?"), (210, "unavailable?"), (241, "unavailable?"), (243, "unavailable?"), (319, "unavailable?"),
            (999, "unavailable?"), (6, "refused"), (26, "refused"), (27, "refused"), (38, "refused"), (41, "refused"),
            (53, "refused"),
            (72, "refused"), (117, "refused"), (349, "refused"), (469, "refused"), (158, "tooLarge"), (307, "tooLarge"),
            (49, "doubtful"), (354, "doubtful"), (1002, "doubtful"), (77_777, "doubtful"),
        ]) func codes(code: Int, word: String) throws
    {
        for text in [Self.old(code), Self.new(code)] {
            for status in [200, 400, 404, 500] { #expect(Self.word(try Self.action(status, text)) == word, "\(status) \(text)") }
        }
    }

    @Test("Only a clean 2xx of ClickHouse's is a delivery") func delivered() throws {
        #expect(try Self.action(200) == .verdict(.delivered(status: 200)))
        #expect(try Self.action(200, "\n") == .verdict(.delivered(status: 200)))
        #expect(Self.word(try Self.action(200, "", [])) == "misconfigured")
        #expect(Self.word(try Self.action(200, "Ok.\n")) == "misconfigured")
    }

    @Test(
        "An exception within a 200 is none, wherever it stands",
        arguments: [
            ("{\"rows\":1}\nCode: 241. DB::Exception: Memory limit", []),
            ("\r\n__exception__\r\nabc\r\nCode: 241. DB::Exception: Memory limit", []),
            ("", [("x-clickhouse-exception-code", "209")]),
        ]) func within(body: String, fields: [(String, String)]) throws
    {
        #expect(Self.word(try Self.action(200, body, Self.ours + fields)) == "unavailable?")
    }

    @Test("An exception behind white space, however much, or behind the body is none") func behind() throws {
        let space = String(repeating: " ", count: 60_000)
        #expect(Self.word(try Self.action(200, space + "\n" + Self.old(60))) == "misconfigured")
        #expect(try Self.action(200, space) == .verdict(.delivered(status: 200)))
        #expect(Self.word(try Self.action(200, trailers: [("X-ClickHouse-Exception-Code", "241")])) == "unavailable?")
    }

    @Test("What is cut off tells of no URL, no row and no number that may go on", arguments: [200, 400, 404, 500])
    func cutOff(status: Int) throws {
        for text in ["", "Co", "Code: 2", "Code: 27", "Code: 117, e.displayText() = DB::Exception: Unkn"] {
            #expect(Self.word(try Self.action(status, text, isWhole: false)) != "refused", "\(text)")
            #expect(Self.word(try Self.action(status, text, isWhole: false)) != "delivered", "\(text)")
        }
        #expect(Self.word(try Self.action(404, isWhole: false)) == "doubtful")
        #expect(Self.word(try Self.action(404)) == "misconfigured")
        #expect(Self.word(try Self.action(404, Self.old(60), isWhole: false)) == "misconfigured")
    }

    @Test("The field tells the code where the body does not") func field() throws {
        #expect(Self.word(try Self.action(500, "", [("X-ClickHouse-Exception-Code", "60")])) == "misconfigured")
        #expect(Self.word(try Self.action(500, Self.new(27), [("X-ClickHouse-Exception-Code", "252")])) == "unavailable")
    }

    @Test("A setting of Ferry's that the server does not know is left out; another one is the user's affair") func settings()
        throws
    {
        let token = "Unknown setting insert_deduplication_token"
        #expect(try Self.action(404, Self.old(115, token)) == .leaveOut(.token))
        #expect(
            try Self.action(
                404, Self.new(115, "Setting date_time_input_format is neither a builtin setting nor started with the prefix"))
                == .leaveOut(.times))
        #expect(Self.word(try Self.action(404, Self.old(115, token), said: [.times])) == "misconfigured")
        #expect(Self.word(try Self.action(404, Self.old(115, "Unknown setting colour"))) == "misconfigured")
    }

    @Test("A field that the table lacks is the table's affair, and stops what all would meet") func unknownField() throws {
        let action = try Self.action(
            500, Self.old(117, "Unknown field found while parsing JSONEachRow format: foo: (at row 1)\n"))
        #expect(Self.word(action) == "misconfigured")
        #expect(Self.message(action).contains("input_format_skip_unknown_fields=1"))
        // Text of the row's own is none of the server's.
        let data = try Self.action(500, Self.old(117, "Duplicate field found: Unknown field: (at row 1)"))
        #expect(Self.word(data) == "refused")
    }

    @Test("Too many partitions in one insert are its size, too many parts the server's state") func parts() throws {
        #expect(
            Self.word(try Self.action(500, Self.new(252, "Too many partitions for single INSERT block (more than 100)")))
                == "tooLarge")
        #expect(Self.word(try Self.action(500, Self.new(252, "Too many parts (300)"))) == "unavailable")
    }

    @Test("A word that an enumeration lacks is the row's fault") func enumerations() throws {
        #expect(Self.word(try Self.action(500, Self.old(49, "Unknown element 'x' for type Enum8('a' = 1)"))) == "refused")
    }

    @Test("One line says what is refused, and in which row") func rows() throws {
        let text = Self.old(
            27, "Cannot parse input: expected \" before: (at row 9)abc\"}\\n: (while read the value of key id): (at row 2)\n")
        let action = try Self.action(400, text)
        #expect(Self.message(action).hasPrefix("HTTP 400: code 27 in row 2, Cannot parse input: expected"), "\(action)")
        #expect(!Self.message(action).contains("e.what()"))
        let long = Self.new(27, String(repeating: "x", count: 2000) + ": (at row 41)\n")
        #expect(Self.message(try Self.action(400, long)).hasPrefix("HTTP 400: code 27 in row 41, xxx"))
    }

    @Test("Who is not let in may have other credentials by now") func access() throws {
        for code in [192, 193, 194, 497, 516] {
            guard case .verdict(.misconfigured(let reason), _) = try Self.action(500, Self.old(code)) else {
                return #expect(Bool(false), "\(code)")
            }
            #expect(reason.isAboutAccess, "\(code)")
        }
    }

    @Test("When a server says when to come back, it is heeded") func retryAfter() throws {
        let action = try Self.action(503, Self.new(202), Self.ours + [("retry-after", "300")])
        guard case .verdict(.unavailable(_, retryAfter: .seconds(300)), _) = action else {
            return #expect(Bool(false), "\(action)")
        }
    }

    @Test("Without a code, what something on the way says ends no segment", arguments: [400, 415, 422])
    func plain(status: Int) throws { #expect(Self.word(try Self.action(status, "no", [])) == "doubtful") }

    @Test("The port for ClickHouse's own programs is the wrong one") func port() throws {
        let action = try Self.action(
            400, "Port 9000 is for clickhouse-client program.\r\nYou must use port 8123 for HTTP.\r\n", [])
        #expect(Self.word(action) == "misconfigured")
        #expect(Self.message(action).contains("You must use port 8123 for HTTP."))
    }

    @Test(
        "What is no number is no code",
        arguments: ["Code: ", "Code: x", "Code: 99999999999999999999. DB::Exception: x", "Code: ²."])
    func oddCodes(text: String) throws {
        #expect(Self.word(try Self.action(500, text)) == "doubtful")
        #expect(Self.word(try Self.action(200, text)) != "delivered")
    }
}
