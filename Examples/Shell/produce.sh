#!/bin/sh
# Publishes the JSON lines of standard input as one segment: SPOOL=folder produce.sh
# When it ends with 0 the segment is on the disk, whole, and counts after a power cut; otherwise there is none.
set -eu
umask 077
stamp=$(date -u +%Y%m%dT%H%M%S.%3NZ)
id=$(LC_ALL=C tr -dc 0-9a-z </dev/urandom | head -c 16)
name="5-$stamp-$id.jsonl.gz"
gzip -c >"$SPOOL/.$name.tmp"
sync "$SPOOL/.$name.tmp"
mv -n "$SPOOL/.$name.tmp" "$SPOOL/$name"
sync "$SPOOL"
