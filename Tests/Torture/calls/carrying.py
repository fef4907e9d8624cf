"""Bundles that travel by hand: ferry export, import and acknowledge."""

import os
import re
import shutil

from common import spools

from .scenario import Scenario, tears


class Carrying(Scenario):
    """A source, a stick and a hub; at the end the hub has every event once, and the source waits for nothing."""

    tar = False

    def prepare(self, place):
        for folder in ("spool", "stick", "hub"):
            os.mkdir(place(folder))
        for index in range(8):
            data = spools.lines(range(index * 10, index * 10 + 10), 200)
            spools.put(place("spool"), spools.segment_name(index), spools.member(data))
        # Both spools exist and have an ID.
        place.run("prune", "--spool", place("spool"), "--max-spool-age", "9999d")
        place.run("init", place("hub"))
        self.go_on(place)

    def go_on(self, place):
        """What comes before the command that is to be disturbed."""

    def export_arguments(self, place):
        return ["export", place("stick"), "--spool", place("spool"), *(["--tar"] if self.tar else [])]

    def import_arguments(self, place):
        return ["import", place("stick"), "--spool", place("hub")]

    def acknowledge_arguments(self, place):
        return ["acknowledge", *self.receipts(place), "--spool", place("spool")]

    def receipts(self, place):
        return [place("stick", name) for name in sorted(os.listdir(place("stick"))) if re.fullmatch(r"ferry-receipt-.*\.json", name)]

    def bundles(self, place):
        return [name for name in sorted(os.listdir(place("stick"))) if re.fullmatch(r"ferry-bundle-\w+(\.tar)?", name)]

    def carry(self, place):
        """Everything that is on the stick to the hub, and the receipts back."""
        if self.bundles(place):
            place.undisturbed(*self.import_arguments(place))
        if self.receipts(place):
            # 65: a receipt that was taken before.
            place.undisturbed(*self.acknowledge_arguments(place), accepted=(0, 65))

    def finish(self, place, fault, before):
        self.carry(place)
        # The rest goes by the network.
        hub = place.hub()
        try:
            result = place.drain(hub.url)
            left = place.contents("spool").pending
            if result.status == 0 and left:
                # What travels in no bundle must not wait for one.
                place.problem(f"upload ends with 0, {len(left)} segments wait for a bundle that is not there: {result.output.strip()[:200]}")
                for mark in sorted(os.listdir(place("spool", ".ferry", "exports"))):
                    place.run("export", "--forget", mark.removesuffix(".jsonl"), "--spool", place("spool"))
                place.drain(hub.url)
        finally:
            hub.stop()
        stored = place.contents("hub")
        place.expect(stored.count(stored.pending), range(80), "at the hub")
        spool = place.contents("spool")
        if spool.pending or spool.rejected:
            place.problem(f"left at the source: {sorted(spool.pending)[:2]} {sorted(spool.rejected)[:2]}")
        place.expect_known(before, "spool")
        hidden = [name for name in stored.hidden if name.endswith(".ferry-in")]
        if hidden:
            place.problem(f"hidden arrivals are left: {hidden[:2]}")
        if not tears(fault):
            place.expect_whole_logs("spool")
            place.expect_whole_logs("hub")
        place.expect_sound("spool")
        place.expect_sound("hub")

    def play(self, place, environment, fault):
        before = place.contents("spool").pending
        self.attempt(place, environment, fault)
        self.finish(place, fault, before)


class Export(Carrying):
    name = "export"

    def attempt(self, place, environment, fault):
        result = self.disturb(place, environment, fault, *self.export_arguments(place))
        if result.status == 0 and not self.bundles(place):
            place.problem("status 0, and there is no bundle")
        if result.status and result.status > 0:
            parts = [name for name in os.listdir(place("stick")) if name.endswith(".part")]
            # Where even removing fails, it stays.
            if parts and fault not in ("dead", "full") and not fault.endswith("+"):
                place.problem(f"a failed export leaves {parts}")


class ExportTar(Export):
    name = "export-tar"
    tar = True


class Import(Carrying):
    name = "import"

    def go_on(self, place):
        place.run(*self.export_arguments(place))

    def attempt(self, place, environment, fault):
        result = self.disturb(place, environment, fault, *self.import_arguments(place))
        # What a receipt vouches for, the hub has, whether or not import said that all went well.
        if self.receipts(place):
            place.run(*self.acknowledge_arguments(place))
            place.run("write", "--create", "--spool", place("hub"), data=b"")
            stored, spool = place.contents("hub"), place.contents("spool")
            lost = spool.count(spool.sent) - stored.count(stored.pending)
            if lost:
                place.problem(f"lost {len(lost)} events that a receipt vouched for")
        elif result.status == 0:
            place.problem("status 0, and there is no receipt")


class ImportTar(Import):
    name = "import-tar"
    tar = True


class ImportSealed(Import):
    """Signed and encrypted."""

    name = "import-sealed"

    def go_on(self, place):
        for key in ("site", "hub-key"):
            place.run("keygen", place(key))
        super().go_on(place)

    def export_arguments(self, place):
        return [*super().export_arguments(place), "--sign", place("site.key"), "--encrypt-to", place("hub-key.pub")]

    def import_arguments(self, place):
        return [*super().import_arguments(place), "--from", place("site.pub"), "--key", place("hub-key.key")]

    def acknowledge_arguments(self, place):
        return [*super().acknowledge_arguments(place), "--from", place("hub-key.pub")]


class Acknowledge(Carrying):
    name = "acknowledge"

    def go_on(self, place):
        place.run(*self.export_arguments(place))
        place.run(*self.import_arguments(place))

    def attempt(self, place, environment, fault):
        result = self.disturb(place, environment, fault, *self.acknowledge_arguments(place))
        left = place.contents("spool").pending
        if result.status == 0 and left and "busy" not in result.output:
            place.problem(f"status 0, and {len(left)} segments are still pending: {result.output.strip()[:200]}")


class Forget(Carrying):
    """A stick that was lost."""

    name = "forget"

    def go_on(self, place):
        place.run(*self.export_arguments(place))
        shutil.rmtree(place("stick"))
        os.mkdir(place("stick"))

    def command(self, place):
        [mark] = [name.removesuffix(".jsonl") for name in os.listdir(place("spool", ".ferry", "exports")) if name.endswith(".jsonl")]
        return ["export", "--forget", mark, "--spool", place("spool")]

    def attempt(self, place, environment, fault):
        command = self.command(place)
        result = self.disturb(place, environment, fault, *command)
        if result.status != 0:
            # Something else than 0: it was forgotten already.
            place.run(*command)


SCENARIOS = [Export(), ExportTar(), Import(), ImportTar(), ImportSealed(), Acknowledge(), Forget()]
