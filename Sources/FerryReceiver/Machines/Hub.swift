import FerrySpool
import Hummingbird

/// Takes segments from many machines, each into its own spool.
struct Hub: Sendable {
    let access: MachineAccess
    let stations: Stations
    let onEvent: @Sendable (ReceiverEvent) -> Void

    /// Takes a request's segments into the spool of the machine that it shows itself to be. Nothing in its names, keys or headers has a say in that.
    func handle(_ request: Request, _ credentials: MachineAccess.Credentials, at address: String) async -> Response {
        let looked = await blocking { [access, stations] in
            Result { () throws(FileError) -> (machine: Machine, station: Station)? in
                guard let machine = try access.machine(showing: credentials, at: .now()) else { return nil }
                return (machine, try stations.station(of: machine.name))
            }
        }
        switch looked {
        case .failure(let error):
            return refuse(RefusedRequest(.serviceUnavailable, "\(error)", retryAfter: .seconds(60)), nil, address)
        case .success(nil):
            return refuse(RefusedRequest(.unauthorized, "a machine's token or certificate is needed"), nil, address)
        case .success(let (machine, station)?):
            if let wait = station.meter.wait(machine.limits.rate) {
                let reason = "\(machine.name) sends more than \(machine.limits.rate ?? .zero) a second"
                return refuse(
                    RefusedRequest(.tooManyRequests, reason, retryAfter: wait, closes: true), machine.name, address)
            }
            guard station.requests.begin() else {
                let reason = "\(machine.name) has too many requests under way"
                return refuse(
                    RefusedRequest(.serviceUnavailable, reason, retryAfter: .seconds(1), closes: true), machine.name, address)
            }
            defer { station.requests.end() }
            let guest = Guest(machine: machine, usage: station.usage, meter: station.meter)
            return await station.handler.handle(request, from: guest, at: address)
        }
    }

    private func refuse(_ refused: RefusedRequest, _ machine: MachineName?, _ address: String) -> Response {
        onEvent(.refused(Refusal(machine: machine, address: address, status: refused.status.code, reason: refused.message)))
        return refused.response
    }
}
