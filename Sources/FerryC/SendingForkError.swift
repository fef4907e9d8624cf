/// The process was forked from one that has sent.
struct SendingForkError: Error, CustomStringConvertible {
    let description =
        "the process was forked from one that has sent, so it cannot send: let the parent send, or ferry run, or fork before anything is sent"
}
