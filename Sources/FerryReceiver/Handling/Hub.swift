import FerrySpool
import Hummingbird

/// Takes segments from many machines, each into its own spool.
struct Hub: Sendable {
    let access: MachineAccess
    let stations: Stations
    /// Of one machine, at once.
    let mostRequests: Int
    let onEvent: @Sendable (ReceiverEvent) -> Void

    /// Takes a request's segments into the spool of the machine that it shows itself to be. Nothing in its names, keys or headers has a say in that.
    func handle(_ request: Request, _ credentials: MachineAccess.Credentials, at address: String) async -> Response {
        switch await admit(credentials, at: address) {
        case .refused(let response): return response
        case .machine(let machine, let station):
            if let wait = station.meter.wait(machine.limits.rate) {
                let reason = "\(machine.name) sends more than \(machine.limits.rate ?? .zero) a second"
                return refuse(
                    RefusedRequestError(.tooManyRequests, reason, retryAfter: wait, closes: true), machine.name, address)
            }
            guard station.requests.begin(most: mostRequests) else {
                let reason = "\(machine.name) has too many requests under way"
                return refuse(
                    RefusedRequestError(.serviceUnavailable, reason, retryAfter: .seconds(1), closes: true), machine.name, address
                )
            }
            defer { station.requests.end() }
            let guest = Guest(machine: machine, usage: station.usage, meter: station.meter)
            return await station.handler.handle(request, from: guest, at: address)
        }
    }

    /// Returns the answer to a machine that asks whether it may send; `nil` where it may.
    func refusal(_ credentials: MachineAccess.Credentials, at address: String) async -> Response? {
        if case .refused(let response) = await admit(credentials, at: address) { response } else { nil }
    }

    private enum Admitted {
        case machine(Machine, Station)
        case refused(Response)
    }

    private func admit(_ credentials: MachineAccess.Credentials, at address: String) async -> Admitted {
        func refused(
            _ error: RefusedRequestError, _ machine: MachineName? = nil, logging reason: String? = nil
        ) -> Admitted { .refused(refuse(error, machine, address, logging: reason)) }
        switch await visit(credentials) {
        case .success(.known(let machine, let station)): return .machine(machine, station)
        case .failure(let error):
            let reason = "the receiver cannot look machines up: \(error.reason)"
            return refused(
                RefusedRequestError(.serviceUnavailable, reason, retryAfter: .seconds(60)), logging: "\(error)")
        case .success(.isOpening(let machine)):
            let reason = "the spool of \(machine.name) is still being opened: it is large, or another process holds its locks"
            return refused(RefusedRequestError(.serviceUnavailable, reason, retryAfter: .seconds(5)), machine.name)
        case .success(.lacksSpool(let machine, let error)):
            let reason = "the spool of \(machine.name) cannot be opened: \(error.reason)"
            return refused(
                RefusedRequestError(.serviceUnavailable, reason, retryAfter: .seconds(60)), machine.name, logging: "\(error)")
        case .success(.perhapsKnown):
            let reason = "the receiver's list of machines is damaged, and has no sound line for what was shown"
            return refused(RefusedRequestError(.serviceUnavailable, reason, retryAfter: .seconds(60)))
        case .success(.unknown):
            let reason = "a machine's token or certificate is needed; where both are shown, both must be the same machine's"
            return refused(RefusedRequestError(.unauthorized, reason))
        }
    }

    private enum Visit {
        case known(Machine, Station)
        case isOpening(Machine)
        case lacksSpool(Machine, FileError)
        case unknown
        case perhapsKnown
    }

    /// Looks up which machine asks. While another request's thread opens the machine's spool, no thread waits.
    private func visit(_ credentials: MachineAccess.Credentials) async -> Result<Visit, FileError> {
        let end = ContinuousClock.now + OpenFile.patience
        while true {
            let looked = await blocking { [access, stations] in
                Result { () throws(FileError) -> Visit in
                    switch try access.visitor(showing: credentials, at: .now()) {
                    case .machine(let machine): Self.visit(of: machine, stations)
                    case .unknown: .unknown
                    case .perhapsKnown: .perhapsKnown
                    }
                }
            }
            guard case .success(.isOpening) = looked, ContinuousClock.now < end else { return looked }
            do { try await Task.sleep(for: .milliseconds(20)) } catch { return looked }
        }
    }

    private static func visit(of machine: Machine, _ stations: Stations) -> Visit {
        do throws(FileError) {
            return try stations.station(of: machine.name).map { .known(machine, $0) } ?? .isOpening(machine)
        } catch {
            return .lacksSpool(machine, error)
        }
    }

    /// Reports a refusal, and returns its answer.
    ///
    /// - Parameter reason: The text for the log, instead of the one that the client gets.
    private func refuse(
        _ refused: RefusedRequestError, _ machine: MachineName?, _ address: String, logging reason: String? = nil
    ) -> Response {
        onEvent(.refused(Refusal(refused, from: Sender(machine, at: address), reason: reason)))
        return refused.response
    }
}
