#!/bin/sh
# Publishes the JSON lines of standard input as one segment: SPOOL=folder produce.sh
# When it ends with 0 the segment is on the disk, whole, and counts after a power cut; otherwise there is none.
set -eu
# Where the group may write, another of its users may be the one who sends.
case $(stat -c %A "$SPOOL") in ?????w*) umask 007 ;; *) umask 077 ;; esac
stamp=$(date -u +%Y%m%dT%H%M%S.%3NZ)
id=$(LC_ALL=C tr -dc 0-9a-z </dev/urandom | head -c 16)
name="5-$stamp-$id.jsonl.gz"
trap 'rm -f "$SPOOL/.$name.ferry-tmp"' EXIT
gzip -c >"$SPOOL/.$name.ferry-tmp"
sync "$SPOOL/.$name.ferry-tmp"
mv -n "$SPOOL/.$name.ferry-tmp" "$SPOOL/$name"
sync "$SPOOL"
