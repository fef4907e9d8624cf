// Publishes the JSON lines of standard input as one segment, with Node's own modules alone: SPOOL=folder node produce.mjs
//
// When it ends with 0 the segment is on the disk, whole, and counts after a power cut. When it ends in any other way there is no segment, but perhaps
// a hidden file, which is never sent. It checks no line: ferry verify does.
import { randomInt } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, rename } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

async function sync(path) {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

const spool = process.env.SPOOL;
// 2026-11-21T03:15:02.123Z, as RFC 3339 has it, without what does not belong into the name.
const stamp = new Date().toISOString().replaceAll(/[-:]/g, "");
const id = Array.from({ length: 16 }, () => randomInt(36).toString(36)).join("");
const name = `5-${stamp}-${id}.jsonl.gz`;
const hidden = `${spool}/.${name}.ferry-tmp`;
await pipeline(process.stdin, createGzip(), createWriteStream(hidden, { flags: "wx", mode: 0o600 }));
await sync(hidden);
await rename(hidden, `${spool}/${name}`);
await sync(spool);
