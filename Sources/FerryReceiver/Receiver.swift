import FerryIntake
public import FerrySpool
package import FerryUpload
import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle

/// The reference receiver: takes segments over HTTP into a spool, each key once.
public struct Receiver: Sendable {
    private let options: ReceiverOptions
    private let reception: Reception
    private let onEvent: @Sendable (ReceiverEvent) -> Void

    /// Who takes the segments.
    private enum Reception: Sendable {
        case spool(SegmentHandler)
        case hub(Hub)
        case store(StoreHandler)
    }

    /// Creates a receiver that puts segments into a spool.
    ///
    /// - Parameters:
    ///   - spool: Opened for writing.
    ///   - onEvent: Told what happens, from any thread.
    public init(
        _ spool: Spool, options: ReceiverOptions, onEvent: @escaping @Sendable (ReceiverEvent) -> Void = { _ in }
    ) throws(ReceiverError) {
        self.options = options
        self.onEvent = onEvent
        do throws(FileError) {
            _ = try spool.housekeeping.recover()
            reception = .spool(
                SegmentHandler(
                    spool: spool, options: options,
                    admission: try Admission(spool, FolderIDs(), gathering: options.gathering?.bounded(by: options.inflateLimit)),
                    pieces: BodyPieces(options: options, turns: IntakeTurns()),
                    onEvent: onEvent))
        } catch {
            throw .file(error)
        }
    }

    /// Creates a receiver for many machines, each with a spool of its own.
    ///
    /// - Parameters:
    ///   - machines: Which machines may send, and where the spools are. Its list is followed: a machine that is revoked there is refused from then
    ///     on.
    ///   - onEvent: Told what happens, from any thread.
    /// - Throws: ``ReceiverError`` when the list cannot be read.
    public init(
        machines: MachineFolder, options: ReceiverOptions, onEvent: @escaping @Sendable (ReceiverEvent) -> Void = { _ in }
    ) throws(ReceiverError) {
        self.options = options
        self.onEvent = onEvent
        let (turns, ids) = (IntakeTurns(), FolderIDs())
        let access = MachineAccess(machines) { onEvent(.warning($0)) }
        do throws(FileError) { try access.read() } catch { throw .file(error) }
        let stations = Stations(machines, mostOpen: options.mostOpenSpools) { spool throws(FileError) in
            SegmentHandler(
                spool: spool, options: options,
                admission: try Admission(spool, ids, gathering: options.gathering?.bounded(by: options.inflateLimit)),
                pieces: BodyPieces(options: options, turns: turns),
                onEvent: onEvent)
        }
        // No machine takes all connections, from however many addresses.
        let mostRequests = min(RequestCount.most, max(1, options.mostConnections / 2))
        reception = .hub(Hub(access: access, stations: stations, mostRequests: mostRequests, onEvent: onEvent))
    }

    /// Creates a receiver that puts segments into an object store, and keeps nothing: any number of them may store into one.
    ///
    /// - Parameters:
    ///   - scratch: The folder of the bodies under way, in files without names.
    ///   - onEvent: Told what happens, from any thread.
    /// - Throws: ``ReceiverError`` when no file can be made in that folder.
    package init(
        _ store: ObjectStore, scratch: String, options: ReceiverOptions,
        onEvent: @escaping @Sendable (ReceiverEvent) -> Void = { _ in }
    ) throws(ReceiverError) {
        self.options = options
        self.onEvent = onEvent
        do throws(FileError) { _ = try OpenFile.unnamed(in: scratch) } catch { throw .file(error) }
        reception = .store(
            StoreHandler(
                store: store, scratch: scratch, options: options, pieces: BodyPieces(options: options, turns: IntakeTurns()),
                onEvent: onEvent))
    }

    /// Serves until the task is cancelled.
    ///
    /// - Parameters:
    ///   - end: When it returns, no new connection is taken, and requests that have begun are finished, for
    ///     ``ReceiverOptions/endPatience`` at most: the sender of one that is cut off sends it again.
    ///   - onRunning: Called with the port once connections are accepted.
    public func run(
        until end: (@Sendable () async -> Void)? = nil, onRunning: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws {
        HandlerTypes.areKnown
        let router = Router(context: PeerContext.self)
        router.add(middleware: WrongPlace(onEvent: onEvent))
        router.get("healthz") { _, _ in "ok\n" }
        router.post("v1/segments") { request, context in await answer(request, context) }
        router.head("v1/segments") { request, context in await greet(request, context) }
        var logger = Logger(label: "ferry.receiver")
        logger.logLevel = .critical
        let application = Application(
            router: router, server: try server(),
            configuration: .init(
                address: .hostname(options.host, port: options.port), serverName: "ferry/\(FerryVersion.current)"),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? 0) }, logger: logger)
        var configuration = ServiceGroupConfiguration(services: [application], gracefulShutdownSignals: [], logger: logger)
        configuration.maximumGracefulShutdownDuration = options.endPatience
        let group = ServiceGroup(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            if let end {
                tasks.addTask {
                    await end()
                    await group.triggerGracefulShutdown()
                }
            }
            if let age = options.remembersFor { tasks.addTask { await forget(olderThan: age) } }
            if let rules = options.gathering { tasks.addTask { await publishGathered(rules) } }
            tasks.addTask { await finishLeft() }
            defer { tasks.cancelAll() }
            do { try await group.run() } catch {
                await publishGathered(all: true)
                throw error
            }
            await publishGathered(all: true)
        }
    }

    /// Makes pending what was gathered for long enough, until the task is cancelled.
    private func publishGathered(_ rules: GatherRules) async {
        let look = min(max(rules.patience / 20, .milliseconds(10)), .milliseconds(500))
        while !Task.isCancelled {
            await publishGathered(all: false)
            try? await Task.sleep(for: look)
        }
    }

    private func publishGathered(all: Bool) async {
        if options.gathering == nil { return }
        switch reception {
        case .store: break
        case .spool(let handler): await handler.admission.publishGathered(all: all)
        case .hub(let hub): for station in hub.stations.open.values { await station.handler.admission.publishGathered(all: all) }
        }
    }

    /// Gives their names to segments whose keys are logged and that another process left without them when it died, now and then: a sender that
    /// brings them again learns that they are here.
    private func finishLeft() async {
        var pause = options.leftPause
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            let spools =
                switch reception {
                case .spool(let handler): [handler.spool]
                case .hub(let hub): hub.stations.open.values.map(\.spool)
                case .store: [Spool]()
                }
            let start = ContinuousClock.now
            for spool in spools where !Task.isCancelled {
                // What could not be finished is looked at again, and reported by the command that opens the spool next.
                _ = await blocking { try? spool.arrivals.finishLeft() }
            }
            // It takes a hundredth of the time at most.
            pause = max(options.leftPause, (ContinuousClock.now - start) * 100)
        }
    }

    /// Forgets old keys, now and every hour, until the task is cancelled. An age limit waits until the clock has been steady for an hour.
    private func forget(olderThan age: Duration) async {
        repeat {
            switch reception {
            case .store: break
            case .spool(let handler): await forget(olderThan: age, handler, of: nil)
            case .hub(let hub):
                for (name, station) in hub.stations.open where !Task.isCancelled {
                    await forget(olderThan: age, station.handler, of: name)
                }
            }
            try? await Task.sleep(for: ClockJumpDetector.settlingTime)
        } while !Task.isCancelled
    }

    private func forget(olderThan age: Duration, _ handler: SegmentHandler, of machine: MachineName?) async {
        let keys = handler.admission.recognition.keys
        let forgotten = await blocking { keys.forget(olderThan: age, now: .now()) }
        if !forgotten.logs.isEmpty || !forgotten.problems.isEmpty { onEvent(.keysForgotten(forgotten, of: machine)) }
    }

    private func answer(_ request: Request, _ context: PeerContext) async -> Response {
        switch reception {
        case .spool(let handler):
            if let refusal = await refusal(request, context) { return refusal }
            return await handler.handle(request, at: context.address)
        case .store(let handler):
            if let refusal = await refusal(request, context) { return refusal }
            return await handler.handle(request, at: context.address)
        case .hub(let hub): return await hub.handle(request, await credentials(request, context), at: context.address)
        }
    }

    /// Answers one who asks, as `ferry config check --online` does, whether segments would be taken: 204, or why not. Nothing follows the head.
    private func greet(_ request: Request, _ context: PeerContext) async -> Response {
        var refused: Response?
        switch reception {
        case .spool, .store: refused = await refusal(request, context)
        case .hub(let hub): refused = await hub.refusal(await credentials(request, context), at: context.address)
        }
        refused?.body = ResponseBody()
        return refused ?? Response(status: .noContent, headers: [.allow: "POST"])
    }

    private func credentials(_ request: Request, _ context: PeerContext) async -> MachineAccess.Credentials {
        MachineAccess.Credentials(
            token: MachineToken.digest(ofHeader: request.headers[.authorization]),
            certificate: options.certificate == nil ? nil : await context.certificate())
    }

    /// Returns the answer to a request that does not show the token; `nil` where it does, or none is needed.
    private func refusal(_ request: Request, _ context: PeerContext) async -> Response? {
        guard let token = await token(), !BearerToken.matches(request.headers[.authorization], token) else { return nil }
        let refused = RefusedRequestError(.unauthorized, "a valid bearer token is needed")
        onEvent(.refused(Refusal(refused, from: Sender(saying: request.headers[.ferrySpool], at: context.address))))
        return refused.response
    }

    /// Returns the token that requests must show now.
    private func token() async -> String? {
        guard let file = options.tokenFile else { return options.token }
        let now = ContinuousClock.now
        if file.isDue(at: now), case .unusable(let reason) = await blocking({ file.look(at: now) }) { onEvent(.warning(reason)) }
        return file.value
    }

    /// How long the other side has to confirm the end of a TLS connection.
    private static let farewell = TimeAmount.seconds(1)

    private func server() throws -> HTTPServerBuilder {
        let onEvent = onEvent
        let limits = ConnectionLimits(
            most: options.mostConnections, mostPerAddress: options.mostConnectionsPerAddress,
            idleTimeout: options.idleTimeout, bodiesEndPatience: options.bodiesEndPatience)
        let plain = HTTPServerBuilder.guarded(limits) { onEvent(.refused($0)) }
        guard let certificate = options.certificate, let key = options.privateKey else { return plain }
        do {
            let identity = try ServerIdentity.followed(certificate: certificate, key: key)
            var configuration = identity.value.configuration
            configuration.sslContextCallback = { _, handshake in
                let now = ContinuousClock.now
                guard identity.isDue(at: now) else { return handshake.succeed(identity.value.override) }
                onBlockingThread {
                    if case .unusable(let reason) = identity.look(at: now) { onEvent(.warning(reason)) }
                    handshake.succeed(identity.value.override)
                }
            }
            configuration.shutdownTimeout = Self.farewell
            guard case .hub = reception else { return try .tls(plain, tlsConfiguration: configuration) }
            // Asked for, not required. Whose it is, the list of machines tells, not who signed it: TLS has shown that the other side has its key.
            configuration.certificateVerification = .optionalVerification
            return try .tls(
                plain,
                configuration: TLSChannelConfiguration(
                    tlsConfiguration: configuration,
                    customVerificationCallback: { _, promise in promise.succeed(.certificateVerified) }))
        } catch let error as ReceiverError {
            throw error
        } catch {
            throw ReceiverError.certificate("cannot use certificate \(certificate) and key \(key): \(error)")
        }
    }
}
