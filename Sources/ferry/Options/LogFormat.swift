import ArgumentParser

/// How the lines of a log are written.
enum LogFormat: String, CaseIterable, ExpressibleByArgument { case text, json }
